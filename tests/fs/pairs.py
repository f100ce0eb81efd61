# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""pairs.py JOBS_DIR DATASET "JOB KIND KEY=VALUE..." ...: compares both files of each sample of
these jobs with Pillow's results for the originals, with one crop and one flip, drawn as in
augmented.py. KIND: flat, record, tar or batch; KEY: as in augmented.py, and for the mask alone
mask=nearest|bilinear (its filter), mode=P|L.

pairs.py current JOB: checks that passes of a script over current/, which opens the image or the
mask first, are the epochs one after the other.

pairs.py module JOBS_DIR JOB...: checks that the Python module gives the same pairs."""

import glob
import io
import os
import sys
import tarfile

import numpy
from PIL import Image

import augmented
import masks


def three_axes(file):
    with Image.open(file) as image:
        return numpy.asarray(image).reshape(image.height, image.width, -1)


def flat(epoch):
    for path in sorted(glob.glob(f"{epoch}/*.cls")):
        stem = path[:-4]
        if os.path.exists(f"{stem}.npy"):
            yield numpy.load(f"{stem}.npy"), numpy.load(f"{stem}.mask.npy")
        else:
            yield three_axes(f"{stem}.ppm"), three_axes(f"{stem}.mask.png")


def record(epoch):
    for path in sorted(glob.glob(f"{epoch}/*.npy")):
        loaded = numpy.load(path)
        with open(path[:-3] + "cls", encoding="ascii") as file:
            if int(file.read()) != loaded["label"] or loaded.dtype.names != ("label", "image", "mask"):
                sys.exit(f"{path}: {loaded.dtype}, label {loaded['label']}")
        yield loaded["image"], loaded["mask"]


def tar(epoch):
    for path in sorted(glob.glob(f"{epoch}/*.tar")):
        with tarfile.open(path) as shard:
            members = {member.name: shard.extractfile(member).read() for member in shard}
        for name in members:
            if name.endswith(".ppm"):
                yield (three_axes(io.BytesIO(members[name])),
                       three_axes(io.BytesIO(members[name[:-3] + "mask.png"])))


def batch(epoch):
    for path in sorted(glob.glob(f"{epoch}/batch-*.npy")):
        if "labels" not in path:
            loaded = numpy.load(path)
            yield from zip(loaded["image"], loaded["mask"])


def check(job, root, kind, want):
    n = 0
    mode = want.pop("mode", "P")
    own = {**want, "filter": want.pop("mask", "nearest")}
    for key in ("normalize", "dtype", "axes"):
        own.pop(key, None)
    for epoch in range(int(want.get("epochs", 1))):
        taken = list(kind(f"{job}/epoch-{epoch:04}"))
        with open(f"{job}/epoch-{epoch:04}.order", encoding="utf-8") as file:
            rows = sorted((int(r[0]), r[4]) for r in (line.rstrip("\n").split("\t") for line in file))
        if len(rows) != len(taken) or not taken:
            sys.exit(f"{job}: {len(taken)} samples of {len(rows)}")
        for (position, path), (image, mask) in zip(rows, taken):
            stem = os.path.splitext(os.path.basename(path))[0]
            original = Image.open(os.path.join(root, path)).convert("RGB")
            masked = Image.open(f"{root}/masks/{stem}.png")
            masked = masked if mode == "P" else masked.convert(mode)
            for have, source, keys in ((image, original, want), (mask, masked, own)):
                kinds = {"bilinear": 2, "nearest": 0, "bicubic": 3}
                size = masks.resized(original, int(want["resize"]), 0).size
                prepared = source.resize(size, kinds[keys.get("filter", "bilinear")])
                random = augmented.Random(int(want.get("seed", 0)), epoch, position)
                masks.same(have, augmented.expected(prepared, random, keys),
                           f"{job}: position {position}, {source.mode} of {path}")
            n += 1
    print(f"{os.path.basename(job)}: {n} pairs")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def current(job):
    orders = (".ppm", ".mask.png"), (".mask.png", ".ppm"), (".cls", ".mask.png", ".ppm")
    passes = []
    for endings in orders:
        passes.append({f"{position:08}{ending}": read(f"{job}/current/{position:08}{ending}")
                       for position in range(masks.N) for ending in endings})
    for epoch, files in enumerate(passes):
        for name, content in files.items():
            if read(f"{job}/epoch-{epoch:04}/{name}") != content:
                sys.exit(f"current/{name} of pass {epoch} is not that of the epoch")
    if passes[0]["00000000.ppm"] == passes[1]["00000000.ppm"] == passes[2]["00000000.ppm"]:
        sys.exit("all passes are alike")


def module(jobs, *names):
    import joaderfs
    for name in names:
        epoch = f"{jobs}/{name}/epoch-0000"
        kind = {"record": record, "whole": record, "batch": batch, "tar": tar}.get(name, flat)
        every = joaderfs.IterableDataset if name == "tar" else joaderfs.Dataset
        read = list(every(f"{jobs}/{name}", epoch=0))
        if name == "batch":
            read = [(pair, label) for pairs, labels in read
                    for pair, label in zip(zip(*pairs), labels)]
        wanted = list(kind(epoch))
        if len(read) != len(wanted) or not read:
            sys.exit(f"{name}: {len(read)} pairs, not {len(wanted)}")
        for i, (((image, mask), label), pair) in enumerate(zip(read, wanted)):
            masks.same(image, pair[0], f"{name}: image {i} of the module")
            masks.same(mask, pair[1], f"{name}: mask {i} of the module")
            if label != 0:
                sys.exit(f"{name}: label {label}")


    for name in ("record", "batch", "plain"):  # as tensors, whose channels come first
        (image, mask), _ = joaderfs.Dataset(f"{jobs}/{name}", epoch=0, output="torch")[0]
        if image.shape[-3] != 3 or mask.shape[-1] != 1 or not image.any() or not mask.any():
            sys.exit(f"{name}: tensors of {tuple(image.shape)} and {tuple(mask.shape)}")


def main():
    if sys.argv[1] == "module":
        module(*sys.argv[2:])
        return
    if sys.argv[1] == "current":
        current(sys.argv[2])
        return
    jobs, root = sys.argv[1:3]
    for argument in sys.argv[3:]:
        name, kind, *options = argument.split()
        check(os.path.join(jobs, name), root, globals()[kind],
              dict(option.split("=") for option in options))


if __name__ == "__main__":
    main()
