# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""pixels.py JOBS_DIR DATASET "JOB [RESIZE [CROP]]"...: compares every file of epoch-0000 of these
jobs, to the bit, with PIL's result for the source file in the order. The file's ending selects the
reader: PIL and OpenCV for images, numpy for npy, bytes for raw, and the unchanged file for jpg. In
the environment: EXIF=apply turns the source, EPOCH=epoch-0001 selects another epoch, and
TRUNCATED=1 reads truncated images as Pillow does."""

import importlib.util
import os
import sys

import numpy
from PIL import Image, ImageFile, ImageOps

ImageFile.LOAD_TRUNCATED_IMAGES = "TRUNCATED" in os.environ
sys.dont_write_bytecode = True  # no files beside the sources
HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location(
    "reader", os.path.join(HERE, "../../tools/demo-reader.py"))
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)


def opencv():
    try:
        import cv2
        return cv2
    except ImportError:
        print("no OpenCV here: not compared with it", file=sys.stderr)
        return None


def differs(path, source, expected, cv2):
    kind = path.rpartition(".")[2]
    if kind == "npy":
        found = numpy.load(path)
    elif kind == "raw":
        found = numpy.fromfile(path, dtype=numpy.uint8).reshape(expected.shape)
    elif kind == "jpg":
        with open(path, "rb") as a, open(source, "rb") as b:
            encoded = b.read()
            return a.read()[:len(encoded)] != encoded
    else:
        found = numpy.asarray(Image.open(path))
        if cv2 and not numpy.array_equal(cv2.imread(path)[:, :, ::-1], expected):
            return True
    return not numpy.array_equal(found, expected)


def check(job, dataset, resize=0, crop=0):
    """Returns the number of files that differ."""
    epoch = os.path.join(job, os.environ.get("EPOCH", "epoch-0000"))
    files = sorted(f for f in os.listdir(epoch) if not f.endswith(".cls"))
    for name in files:
        with open(os.path.join(epoch, name), "rb") as file:
            file.read(1)
    with open(epoch + ".order", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    assert len(rows) == len(files) > 0, (len(rows), len(files))
    wrong = 0
    for position, _, label, _, path in rows:
        source = os.path.join(dataset, path)
        image = Image.open(source)
        if os.environ.get("EXIF") == "apply":
            image = ImageOps.exif_transpose(image)
        image = image.convert("RGB")
        expected = numpy.asarray(reader.transform(image, resize, crop))
        name = files[int(position)]
        with open(os.path.join(epoch, name.rpartition(".")[0] + ".cls"), encoding="ascii") as file:
            assert int(file.read()) == int(label), f"{name}: label"
        if differs(os.path.join(epoch, name), source, expected, CV2):
            print(f"{name}: not the pixels of {path}")
            wrong += 1
    print(f"{job}: {len(files)} files compared, {wrong} differ")
    return wrong


def main():
    jobs, dataset = sys.argv[1:3]
    wrong = 0
    for job in sys.argv[3:]:
        name, *sizes = job.split()
        wrong += check(os.path.join(jobs, name), dataset, *map(int, sizes))
    sys.exit(wrong > 0 or len(sys.argv) < 4)


CV2 = opencv()
main()
