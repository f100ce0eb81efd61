# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""make_dataset.py DIR CLASSES PER_CLASS WIDTHxHEIGHT: makes an ImageFolder of different JPEGs,
nearly all of the given size in one of the two orientations."""

import os
import sys

import numpy
from PIL import Image


def main():
    top, classes, per_class = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    width, height = map(int, sys.argv[4].split("x"))
    rng = numpy.random.default_rng(1)
    for c in range(classes):
        directory = os.path.join(top, f"class{c}")
        os.makedirs(directory)
        for i in range(per_class):
            size = (height, width) if i % 4 == 3 else (width, height)
            noise = rng.integers(0, 256, (6, 8, 3), dtype=numpy.uint8)
            image = Image.fromarray(noise).resize(size, Image.Resampling.BILINEAR)
            image.save(os.path.join(directory, f"{i:04d}.jpg"), quality=90)


main()
