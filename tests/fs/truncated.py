# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""truncated.py DIRECTORY COUNT: makes COUNT JPEGs and PNGs of all kinds that end too early or have
other bytes in their pixels, all of which Pillow reads with LOAD_TRUNCATED_IMAGES. Prints how many
of them it reads without it."""

import io
import os
import random
import sys

import numpy
from PIL import Image, ImageFile

JPEGS = (("RGB", {}), ("RGB", {"subsampling": 0}), ("L", {}), ("RGB", {"progressive": True}), ("CMYK", {}),
         ("RGB", {"restart_marker_rows": 1}), ("L", {"progressive": True}))
PNGS = ("RGB", "RGBA", "L", "LA", "P", "1", "I;16")


def image(rng, mode):
    size = rng.randrange(20, 120), rng.randrange(20, 90)
    noise = numpy.frombuffer(rng.randbytes(48 * 3), dtype=numpy.uint8).reshape(6, 8, 3)
    rgb = Image.fromarray(noise).resize(size, Image.Resampling.BICUBIC)
    if mode == "I;16":
        return Image.fromarray(numpy.asarray(rgb.convert("L")).astype(numpy.uint16) * 3)
    return rgb.convert(mode)


def encode(rng):
    out = io.BytesIO()
    if rng.random() < 0.5:
        mode, options = rng.choice(JPEGS)
        image(rng, mode).save(out, "JPEG", quality=rng.randrange(50, 98), **options)
        return "jpg", out.getvalue(), out.getvalue().index(b"\xff\xda") + 20
    image(rng, rng.choice(PNGS)).save(out, "PNG")
    return "png", out.getvalue(), out.getvalue().index(b"IDAT") + 8


def damage(rng, data, pixels):
    place = rng.randrange(pixels, len(data) - 4)
    if rng.random() < 0.8:
        return data[:place]
    return data[:place] + rng.randbytes(rng.randrange(1, 4)) + data[place + 3:]


def loads(data, truncated):
    ImageFile.LOAD_TRUNCATED_IMAGES = truncated
    try:
        Image.open(io.BytesIO(data)).load()
    except Exception:  # pylint: disable=broad-except; Pillow fails in many ways
        return False
    return True


def main():
    directory, count = sys.argv[1], int(sys.argv[2])
    rng, kept, good = random.Random(1), 0, 0
    os.makedirs(directory)
    while kept < count:
        ending, data, pixels = encode(rng)
        data = damage(rng, data, pixels)
        if not loads(data, True):
            continue
        with open(os.path.join(directory, f"{kept:04}.{ending}"), "wb") as file:
            file.write(data)
        kept += 1
        good += loads(data, False)
    print(good)


main()
