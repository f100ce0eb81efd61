# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""kept.py make DIRECTORY: makes a dataset of images with all kinds of pixels, a class for each
kind. kept.py check JOBS_DIR DIRECTORY: compares the files of its jobs with Pillow's results."""

import glob
import io
import os
import sys
import tarfile

import numpy
from PIL import Image

KINDS = ("rgb", "gray", "palette", "ga", "rgba", "deep", "float")


def save(directory, kind, number):
    values = numpy.random.default_rng([number, KINDS.index(kind)])
    colours = values.integers(0, 256, (40, 52, 4), numpy.uint8)
    image, ending = {
        "rgb": lambda: (Image.fromarray(colours[..., :3]), "png"),
        "gray": lambda: (Image.fromarray(colours[..., 0]), "jpg"),
        "palette": lambda: (Image.fromarray(colours[..., :3]).quantize(20 + number), "png"),
        "ga": lambda: (Image.fromarray(colours[..., :2], "LA"), "png"),
        "rgba": lambda: (Image.fromarray(colours, "RGBA"), "png"),
        "deep": lambda: (Image.fromarray(values.integers(0, 65536, (40, 52), numpy.int32)), "png"),
        "float": lambda: (Image.fromarray(values.normal(0, 9, (40, 52)).astype("f4")), "tiff"),
    }[kind]()
    os.makedirs(os.path.join(directory, kind), exist_ok=True)
    image.save(os.path.join(directory, kind, f"{number}.{ending}"))


def numbers(image):
    pixels = numpy.asarray(image)
    pixels = pixels if pixels.ndim == 3 else pixels[..., None]
    return pixels.clip(0, 65535).astype(numpy.uint16) if image.mode == "I" else pixels


def source(dataset, path, size=None, kind=Image.Resampling.NEAREST):
    with Image.open(os.path.join(dataset, path)) as image:
        return numbers(image.resize((size, size), kind) if size else image)


def order(jobs, job):
    with open(os.path.join(jobs, job, "epoch-0000.order"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return {int(line[0]): (int(line[2]), line[4]) for line in lines}


def files(jobs, job, ending):
    return sorted(glob.glob(os.path.join(jobs, job, "epoch-0000", f"*.{ending}")))


def load_png(path):
    with Image.open(path) as image:
        return numbers(image)


def same(job, path, have, want):
    if have.dtype != want.dtype or not numpy.array_equal(have, want):
        sys.exit(f"{job}: {path}: is {have.dtype} {have.shape}, expected {want.dtype} "
                 f"{want.shape}, or with other numbers")


def check_files(jobs, dataset, job, load, **how):
    ending = "png" if load is load_png else "npy"
    loaded = [load(path) for path in files(jobs, job, ending)]
    taken = order(jobs, job)
    assert len(taken) == len(loaded) > 0, (job, len(taken), len(loaded))
    for position, (_, path) in taken.items():
        same(job, path, loaded[position], source(dataset, path, **how))
    return taken


def check_record(jobs, dataset):
    records = [numpy.load(path) for path in files(jobs, "record", "npy")]
    for position, (label, path) in order(jobs, "record").items():
        assert records[position]["label"] == label
        same("record", path, records[position]["image"], source(dataset, path))


def check_batch(jobs, dataset):
    batches = [numpy.load(path) for path in files(jobs, "batch", "npy") if "labels" not in path]
    rows = numpy.concatenate(batches)
    for position, (_, path) in order(jobs, "batch").items():
        same("batch", path, rows[position], source(dataset, path, 24, Image.Resampling.BICUBIC))


def check_raw(jobs, dataset):
    loaded = [numpy.fromfile(path, "<f4").reshape(24, 24, 1) for path in files(jobs, "raw", "raw")]
    for position, (_, path) in order(jobs, "raw").items():
        same("raw", path, loaded[position], source(dataset, path, 24, Image.Resampling.LANCZOS))


def check_tar(jobs, dataset):
    loaded = {}
    for path in files(jobs, "tar", "tar"):
        with tarfile.open(path) as tar:
            for member in tar:
                if member.name.endswith(".npy"):
                    data = tar.extractfile(member).read()
                    loaded[int(os.path.basename(member.name)[:8])] = numpy.load(io.BytesIO(data))
    for position, (_, path) in order(jobs, "tar").items():
        same("tar", path, loaded[position], source(dataset, path))


def main():
    command, *places = sys.argv[1:]
    if command == "make":
        for kind in KINDS:
            for number in range(4):
                save(places[0], kind, number)
        return
    taken = check_files(*places, "all", numpy.load)
    assert {path.split("/")[0] for _, path in taken.values()} == set(KINDS)
    check_files(*places, "masks", load_png, size=30)
    check_files(*places, "png", load_png)
    for check in (check_record, check_batch, check_raw, check_tar):
        check(*places)


main()
