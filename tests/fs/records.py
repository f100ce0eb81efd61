# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""records.py RECORDS ARRAYS: checks that each record of the directory has the label in the file
beside it, and the array of the same sample in the other job, whose position k is sample k."""

import os
import sys

import numpy

records, arrays = sys.argv[1:]
with open(records + ".order", encoding="utf-8") as file:
    samples = {int(line.split("\t")[0]): int(line.split("\t")[1]) for line in file}
names = sorted(name for name in os.listdir(records) if name.endswith(".npy"))
assert len(names) == len(samples) > 0, (len(names), len(samples))
labels = set()
for name in names:
    path = os.path.join(records, name)
    record, mapped = numpy.load(path), numpy.load(path, mmap_mode="c")
    assert record.dtype.names == ("label", "image") and record["label"].dtype == numpy.int64
    with open(path[:-3] + "cls", "rb") as file:
        assert int(file.read()) == record["label"] == mapped["label"], name
    array = numpy.load(os.path.join(arrays, f"{samples[int(name[:8])]:08d}.npy"))
    for image in (record["image"], mapped["image"]):
        assert image.dtype == array.dtype and numpy.array_equal(image, array), name
    labels.add(int(record["label"]))
print(*sorted(labels))
