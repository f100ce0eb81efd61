#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors

"""Real readers read every sample format back to the same pixels.

usage: formats.py ENCODE (the program made from tests/clients/encode.c)

Readers that are not installed are named and left out. PIL and numpy are required."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image

try:
    import cv2
except ImportError:
    cv2 = None
try:
    import torchvision.io
except ImportError:
    torchvision = None

# All widths modulo 4, a row longer than a stored block of png (65,535 bytes), an image
# that fills such blocks exactly, and one of several chunks.
SIZES = [(1, 1), (1, 2), (2, 1), (3, 3), (4, 4), (5, 5), (7, 6), (6, 7), (8, 9), (97, 101),
         (224, 224), (771, 28), (1, 30000), (500, 333), (1300, 1201), (1203, 1302)]


def read_pil(path):
    # convert() loads all pixels, as torchvision's ImageFolder does
    with Image.open(path) as image:
        return numpy.asarray(image.convert("RGB"))


def read_cv2(path):
    image = cv2.imread(str(path), cv2.IMREAD_COLOR)
    return None if image is None else image[:, :, ::-1]


def read_cv2_buffer(path):
    image = cv2.imdecode(numpy.fromfile(path, numpy.uint8), cv2.IMREAD_UNCHANGED)
    return None if image is None else image[:, :, ::-1]


def read_torchvision(path):
    image = torchvision.io.read_image(str(path), torchvision.io.ImageReadMode.RGB)
    return image.permute(1, 2, 0).numpy()


def read_npy(path):
    return numpy.load(path)


def read_npy_mapped(path):
    return numpy.array(numpy.load(path, mmap_mode="r"))


def readers(name):
    """The readers that can read the format."""
    if name == "npy":
        return [read_npy, read_npy_mapped]
    found = [read_pil]
    if cv2:
        found += [read_cv2, read_cv2_buffer]
    if torchvision and name == "png":
        found += [read_torchvision]
    return found


class Checks:
    def __init__(self, encode, folder):
        self.encode = encode
        self.folder = folder
        self.passed = self.failed = 0

    def make(self, name, size, padding):
        path = self.folder / f"image.{name}"
        height, width = map(str, size)
        subprocess.run([self.encode, name, height, width, str(padding), str(path)],
                       check=True)
        return path

    def pixels(self, size):
        raw = self.make("raw", size, 0).read_bytes()
        return numpy.frombuffer(raw, numpy.uint8).reshape(*size, 3)

    def check(self, what, read, path, expected):
        try:
            image = read(path)
            same = image is not None and image.shape == expected.shape \
                and image.dtype == numpy.uint8 and (image == expected).all()
            why = "other pixels" if image is not None else "not read"
        except Exception as error:  # any refusal of a reader is a failed check
            same, why = False, f"{type(error).__name__}: {error}"
        if same:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {what}: {why}")
        return bool(same)

    def check_format(self, name):
        for read in readers(name):
            for padding in (0, 1, 100000):
                reads = [self.check(f"{name} {height}x{width} +{padding} {read.__name__}",
                                    read, self.make(name, (height, width), padding),
                                    self.pixels((height, width)))
                         for height, width in SIZES]
                print(f"{name:4} {read.__name__:16} {padding:6} zeros after the image: "
                      f"{sum(reads)} of {len(reads)} sizes read")

    def check_the_check(self):
        """A wrong image must be noticed."""
        path = self.make("ppm", (5, 5), 0)
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        noticed = not (read_pil(path) == self.pixels((5, 5))).all()
        self.passed += noticed
        self.failed += not noticed
        print("a changed pixel is", "noticed" if noticed else "NOT noticed")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, module in (("cv2", cv2), ("torchvision", torchvision)):
        if not module:
            print(f"not installed, left out: {name}")
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(sys.argv[1], Path(folder))
        checks.check_the_check()
        for name in ("ppm", "bmp", "png", "npy"):
            checks.check_format(name)
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
