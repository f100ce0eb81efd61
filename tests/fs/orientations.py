# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""orientations.py DIRECTORY COUNT: makes COUNT PNGs with random texts of an orientation, all of
which Pillow can turn."""

import io
import os
import random
import sys
import zlib

from PIL import Image, ImageOps, PngImagePlugin

RAW, XMP = "Raw profile type exif", "XML:com.adobe.xmp"


def exif(rng):
    tags = Image.Exif()
    if rng.random() < 0.8:
        tags[0x112] = rng.randrange(10)
    tags[0x131] = "x"
    return tags.tobytes()


def raw(rng):
    data = exif(rng)
    digits = data.hex() if rng.random() < 0.5 else data.hex().upper()
    lines = [digits[i:i + 72] for i in range(0, len(digits), 72)]
    head = ["", "exif", f"{len(data):8}"][:rng.choice((3, 3, 3, 2))]
    return "\n".join([*head, *lines]) + "\n"


def xmp(rng):
    value = rng.randrange(10)
    return rng.choice((f'<x tiff:Orientation="{value}"/>', f"<tiff:Orientation>{value}</tiff:Orientation>",
                       f"<x tiff:Orientation='{value}'/>", f"tiff:Orientation tiff:Orientation={value}>",
                       f'tiff:Orientation=""tiff:Orientation="{value}é"', ""))


def texts(rng):
    info = PngImagePlugin.PngInfo()
    for key, make in rng.choices(((RAW, raw), (XMP, xmp)), k=rng.randrange(4)):
        text, kind = make(rng), rng.randrange(5)
        if kind == 0:
            info.add_text(key, text)
        elif kind == 1:
            info.add_text(key, text, zip=True)
        elif kind == 2:
            info.add_itxt(key, text, "en", "x", zip=rng.random() < 0.5)
        elif kind == 3:  # a stream that ends too early
            info.add(b"zTXt", key.encode() + b"\0\0" + zlib.compress(text.encode())[:-rng.randrange(1, 9)])
        else:
            packed = bytearray(zlib.compress(text.encode()))
            packed[rng.randrange(len(packed))] ^= 1 << rng.randrange(8)
            info.add(rng.choice((b"zTXt", b"iTXt")), key.encode() + b"\0\0" + packed)
    return info


def main():
    directory, count = sys.argv[1], int(sys.argv[2])
    rng, kept = random.Random(1), 0
    turned = 0
    os.makedirs(directory)
    while kept < count:
        out = io.BytesIO()
        image = Image.frombytes("RGB", (40, 30), rng.randbytes(3600))
        more = {"exif": exif(rng)} if rng.random() < 0.2 else {}
        image.save(out, "PNG", pnginfo=texts(rng), **more)
        try:
            upright = ImageOps.exif_transpose(Image.open(out))
            upright.load()
        except Exception:  # pylint: disable=broad-except; Pillow fails in many ways
            continue
        turned += upright.tobytes() != image.tobytes()
        with open(os.path.join(directory, f"{kept:04}.png"), "wb") as file:
            file.write(out.getvalue())
        kept += 1
    assert count / 4 < turned < count, turned


main()
