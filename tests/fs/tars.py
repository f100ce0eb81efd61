# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""tars.py HOW JOB_DIR ...: reads all shards of epoch-0000 of a job with layout = tar.

stream | random JOB_DIR FLAT_JOB_DIR with tarfile, as a pipe, or seeking from the last member
extracted JOB_DIR FLAT_JOB_DIR DIR the members that were unpacked into DIR/<shard>/
images JOB_DIR DATASET members, which must decode as the source files by PIL

The bytes are compared with those that the flat job, which reads in the order of the dataset, has
for the sample in the shards' order."""

import glob
import io
import os
import sys
import tarfile

from PIL import Image, ImageChops


def order(job):
    with open(os.path.join(job, "epoch-0000.order"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return {int(row[0]): row for row in rows}


def shards(job):
    return sorted(glob.glob(os.path.join(job, "epoch-0000", "shard-*.tar")))


def from_stream(path):
    with open(path, "rb") as file, tarfile.open(fileobj=file, mode="r|") as tar:
        for member in tar:
            yield member.name, tar.extractfile(member).read()


def from_random(path):
    with tarfile.open(path) as tar:
        for member in reversed(tar.getmembers()):
            yield member.name, tar.extractfile(member).read()


def from_directory(path):
    for name in sorted(os.listdir(path)):
        with open(os.path.join(path, name), "rb") as file:
            yield name, file.read()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    how, job, other = sys.argv[1:4]
    members = {}
    for path in shards(job):
        if how == "extracted":
            source = from_directory(os.path.join(sys.argv[4], os.path.basename(path)))
        else:
            source = from_random(path) if how == "random" else from_stream(path)
        for name, data in source:
            assert name not in members, name
            members[name] = data
    rows = order(job)
    assert len(members) == 2 * len(rows), (len(members), len(rows))
    for position, row in rows.items():
        sample, label = int(row[1]), int(row[2])
        assert int(members[f"{position:08}.cls"]) == label, f"label of {position}"
        found = members[f"{position:08}.ppm"]
        if how == "images":
            expected = Image.open(os.path.join(other, row[4])).convert("RGB")
            image = Image.open(io.BytesIO(found))
            assert ImageChops.difference(image, expected).getbbox() is None, row[4]
        else:
            flat = os.path.join(other, "epoch-0000", f"{sample:08}.ppm")
            assert found == read(flat), f"{position} is not sample {sample}"
    print(f"{len(rows)} samples compared")


main()
