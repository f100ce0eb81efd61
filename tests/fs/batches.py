# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""batches.py load | map | pread JOB_DIR FLAT_JOB_DIR: reads all batches of epoch-0000 of a job
with numpy, and compares them with arrays of the flat job, which reads in the order of the dataset,
for the samples in the batches' order.

batches.py floats JOB_DIR DATASET: compares the batches of a job with dtype float32, axes CHW,
hflip and normalize with the source files, mirrored or not."""

import glob
import importlib.util
import os
import sys

import numpy
from PIL import Image

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location(
    "reader", os.path.join(HERE, "../../tools/demo-reader.py"))
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)


def order(job):
    with open(os.path.join(job, "epoch-0000.order"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {int(row[0]): row for row in rows}


def by_pread(path):
    """Reads the samples one by one, the last one first, without numpy."""
    whole = numpy.load(path, mmap_mode="r")
    out = numpy.empty(whole.shape, whole.dtype)
    each = out[0].nbytes
    assert whole.offset == 4096, whole.offset  # a page, so that the array can be mapped unchanged
    fd = os.open(path, os.O_RDONLY)
    for i in reversed(range(len(out))):
        data = os.pread(fd, each, whole.offset + i * each)
        out[i] = numpy.frombuffer(data, whole.dtype).reshape(out[i].shape)
    os.close(fd)
    return out


LOADERS = {"load": numpy.load, "floats": numpy.load, "pread": by_pread,
           "map": lambda path: numpy.load(path, mmap_mode="r")}


def same_as_flat(array, row, flat):
    expected = numpy.load(os.path.join(flat, "epoch-0000", f"{int(row[1]):08}.npy"))
    return numpy.array_equal(array, expected)


def same_as_source(array, row, dataset):
    image = Image.open(os.path.join(dataset, row[4])).convert("RGB")
    numbers = numpy.asarray(reader.transform(image, 48, 40)).astype(numpy.float32)
    mean = numpy.array([0.485, 0.456, 0.406], numpy.float32)
    deviation = numpy.array([0.229, 0.224, 0.225], numpy.float32)
    expected = ((numbers / numpy.float32(255) - mean) / deviation).transpose(2, 0, 1)
    return numpy.array_equal(array, expected) or numpy.array_equal(array, expected[:, :, ::-1])


def main():
    how, job, other = sys.argv[1:4]
    epoch = os.path.join(job, "epoch-0000")
    files = sorted(f for f in glob.glob(os.path.join(epoch, "batch-*.npy")) if "labels" not in f)
    position = 0
    for path in files:
        batch = LOADERS[how](path)
        labels = numpy.load(path.replace(".npy", ".labels.npy"),
                            mmap_mode="r" if how == "map" else None)
        rows = order(job)
        assert labels.dtype == numpy.int64 and labels.shape == (len(batch),), labels.shape
        for array, label in zip(batch, labels):
            row = rows[position]
            compare = same_as_source if how == "floats" else same_as_flat
            assert int(row[2]) == label, f"label of {position}"
            assert compare(array, row, other), f"{position} is not {row[4]}"
            position += 1
    assert position == 24, position
    print(f"{position} samples compared in {len(files)} batches")


main()
