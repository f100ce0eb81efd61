# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""current_files.py JOBS_DIR: reads current/ of the jobs batch, tar and cached three times, as a
script that knows one path, and compares the content with the arrays of the job flat."""

import glob
import io
import os
import sys
import tarfile

import numpy
from PIL import Image

JOBS = sys.argv[1]


def order(job, epoch):
    with open(f"{JOBS}/{job}/epoch-{epoch:04}.order", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {int(row[0]): (int(row[1]), int(row[2])) for row in rows}


def flat(sample):
    return numpy.load(f"{JOBS}/flat/epoch-0000/{sample:08}.npy")


def check(job, epoch, position, array, label):
    sample, expected = order(job, epoch)[position]
    assert int(label) == expected, f"{job}, epoch {epoch}: label of {position}"
    assert numpy.array_equal(array, flat(sample)), f"{job}, epoch {epoch}: image of {position}"


def batches(epoch):
    """Reads batches plainly and mapped, and labels before images."""
    for number in range(10):
        path = f"{JOBS}/batch/current/batch-{number:06}"
        if epoch == 2:
            labels = numpy.load(path + ".labels.npy")
        images = numpy.load(path + ".npy", mmap_mode="r" if epoch == 1 else None)
        if epoch != 2:
            labels = numpy.load(path + ".labels.npy")
        for i, (image, label) in enumerate(zip(images, labels)):
            check("batch", epoch, 16 * number + i, image, label)


def shards(epoch):
    for path in sorted(glob.glob(f"{JOBS}/tar/current/*.tar")):
        with tarfile.open(path, "r|" if epoch == 1 else "r") as tar:
            members = {m.name: tar.extractfile(m).read() for m in tar}
        for name in (n for n in members if n.endswith(".ppm")):
            image = numpy.asarray(Image.open(io.BytesIO(members[name])))
            check("tar", epoch, int(name[:8]), image, members[name[:8] + ".cls"])


def files(epoch):
    for position in range(160):
        path = f"{JOBS}/cached/current/{position:08}"
        image = numpy.load(path + ".npy", mmap_mode="r")
        with open(path + ".cls", encoding="ascii") as file:
            check("cached", epoch, position, image, file.read())


assert os.path.isdir(f"{JOBS}/batch/current")
for reader in (batches, shards, files):
    for number in range(3):
        reader(number)
    print(f"{reader.__name__}: three epochs compared")

# Each epoch has its own augmentation: the samples of all epochs are the same, and their crops
# differ.
crops = []
for number in range(3):
    for name in (f"batch-{i:06}.npy" for i in range(10)):
        crops.append(numpy.load(f"{JOBS}/crops/current/{name}"))
        expected = numpy.load(f"{JOBS}/crops/epoch-{number:04}/{name}")
        assert numpy.array_equal(crops[-1], expected), (number, name)
assert not numpy.array_equal(crops[0], crops[10]), "epochs are cropped alike"

# A reader that has a batch mapped keeps its content, and so does a reader that opens the batch
# meanwhile, because the kernel has one content for both. When no reader has the batch any more, it
# belongs to the next epoch.
first = f"{JOBS}/held/current/batch-000000"
mapped = numpy.load(first + ".npy", mmap_mode="r")
seen = mapped.copy()
for number in range(1, 10):
    numpy.load(f"{JOBS}/held/current/batch-{number:06}.npy")
again = numpy.load(first + ".npy")
labels = numpy.load(first + ".labels.npy")
assert numpy.array_equal(mapped, seen), "a mapping has changed"
assert numpy.array_equal(again, seen), "two contents of one file"
for i in range(16):
    check("held", 0, i, again[i], labels[i])
del mapped
assert not numpy.array_equal(numpy.load(first + ".npy"), seen), "current/ does not go on"
