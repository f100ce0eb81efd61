# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""
masks.py make DIR             photographs, masks whose indices are classes, and 16-bit depths
masks.py mirror DIR EPOCH     the files of a mirror are what Pillow makes of the originals
"""

import os
import sys

import numpy
from PIL import Image

N = 8


def make(root):
    for name in ("images", "masks", "deep"):
        os.makedirs(f"{root}/{name}")
    for i in range(N):
        values = numpy.random.default_rng(i)
        size = tuple(int(side) for side in values.integers(50, 90, 2))
        image = Image.fromarray(values.integers(0, 256, (7, 9, 3), numpy.uint8)).resize(size, 3)
        image.save(f"{root}/images/{i:03}.jpg", quality=90)
        mask = Image.fromarray(values.integers(0, 21, (12, 16), numpy.uint8)).resize(size, 0)
        mask = Image.fromarray(numpy.asarray(mask), "P")
        mask.putpalette(values.integers(0, 256, 63, numpy.uint8).tobytes())
        mask.save(f"{root}/masks/{i:03}.png")
        depth = values.integers(0, 65536, size[::-1]).astype(numpy.int32)
        Image.fromarray(depth).save(f"{root}/deep/{i:03}.png")


def resized(image, shorter, kind):
    width, height = image.size
    size = ((shorter, int(shorter * height / width)) if width <= height
            else (int(shorter * width / height), shorter))
    return image.resize(size, kind)


def same(have, expected, what):
    have, expected = numpy.asarray(have), numpy.asarray(expected)
    if have.shape != expected.shape or have.dtype != expected.dtype or (have != expected).any():
        sys.exit(f"{what}: {have.dtype} {have.shape} differs from {expected.dtype} "
                 f"{expected.shape} of Pillow")


def mirror(root, epoch):
    """Opens files as segmentation programs do: a mask has the name of its image."""
    stems = sorted(os.path.splitext(name)[0] for name in os.listdir(f"{epoch}/images"))
    if len(stems) != N or sorted(os.listdir(f"{epoch}/masks")) != [f"{s}.png" for s in stems]:
        sys.exit(f"names: {stems}, {os.listdir(f'{epoch}/masks')}")
    for stem in stems:
        image = Image.open(f"{root}/images/{stem}.jpg").convert("RGB")
        mask = Image.open(f"{root}/masks/{stem}.png")
        same(Image.open(f"{epoch}/images/{stem}.jpg"), resized(image, 40, 2), f"image {stem}")
        same(Image.open(f"{epoch}/masks/{stem}.png"), resized(mask, 40, 0), f"mask {stem}")
        with open(f"{root}/deep/{stem}.png", "rb") as one, \
                open(f"{epoch}/deep/{stem}.png", "rb") as other:
            if one.read() != other.read():
                sys.exit(f"deep/{stem}.png is not as it was")


if __name__ == "__main__":
    {"make": make, "mirror": mirror}[sys.argv[1]](*sys.argv[2:])
