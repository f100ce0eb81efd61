# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Difficult JPEGs for tests/clients/exact. jpegs.c makes those that PIL can't write."""

import io
import random
import struct

import numpy
from PIL import Image


def noise(width, height, channels, seed=1):
    """Smooth colours with noise, so that rounding errors are visible in both."""
    rng = numpy.random.default_rng(seed)
    y, x = numpy.mgrid[0:height, 0:width]
    planes = []
    for c in range(channels):
        wave = 127 + 90 * numpy.sin(x / (7 + 3 * c)) + 60 * numpy.cos(y / (5 + 2 * c))
        wave = wave + rng.integers(-40, 40, (height, width))
        planes.append(numpy.clip(wave, 0, 255).astype(numpy.uint8))
    return planes[0] if channels == 1 else numpy.dstack(planes)


def encode(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def jpeg(width=97, height=61, mode="RGB", **options):
    image = Image.fromarray(noise(width, height, Image.getmodebands(mode)), mode)
    return encode(image, "JPEG", **options)


def without_adobe(data):
    """Removes the Adobe segment, which gives the meaning of four channels."""
    at = data.index(b"\xff\xee")
    length = struct.unpack(">H", data[at + 2 : at + 4])[0]
    return data[:at] + data[at + 2 + length :]


def adobe_transform(data, value):
    at = data.index(b"Adobe") + 11
    return data[:at] + bytes([value]) + data[at + 1 :]


SIZES = ((97, 61), (16, 16), (17, 33), (1, 40), (40, 1), (1, 1), (2, 3), (300, 500))
# one entry: orientation, turned by 90 degrees
EXIF = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"


def jpegs():
    for subsampling, name in ((0, "444"), (1, "422"), (2, "420")):
        for width, height in SIZES:
            data = jpeg(width, height, subsampling=subsampling)
            yield f"jpeg-{name}-{width}x{height}", data
        data = jpeg(subsampling=subsampling, progressive=True)
        yield f"jpeg-{name}-progressive", data
    for quality in (1, 30, 100):
        yield f"jpeg-quality-{quality}", jpeg(quality=quality)
    yield "jpeg-optimized", jpeg(optimize=True)
    for mode in ("L", "CMYK"):
        yield f"jpeg-{mode}", jpeg(mode=mode)
        yield f"jpeg-{mode}-progressive", jpeg(mode=mode, progressive=True)
    cmyk = jpeg(mode="CMYK")
    yield "jpeg-cmyk-without-adobe", without_adobe(cmyk)
    yield "jpeg-ycck", adobe_transform(cmyk, 2)
    yield "jpeg-exif-orientation", jpeg(exif=EXIF)
    yield "jpeg-icc", jpeg(icc_profile=bytes(range(256)) * 3)
    yield "jpeg-comment", jpeg(comment=b"a comment")
    yield "jpeg-large", jpeg(1500, 1100, quality=95)
    yield "jpeg-large-progressive", jpeg(1500, 1100, quality=95, progressive=True)
    yield "jpeg-thin", jpeg(3, 2000)


def find_scan(data):
    return data.index(b"\xff\xda") + 14


def damaged(name, data, steps, seed):
    """Cuts, garbage and flipped bytes."""
    rng = random.Random(seed)
    yield f"{name}-trailing-garbage", data + b"garbage" * 100
    yield f"{name}-trailing-itself", data + data
    for cut in list(range(1, 16)) + [rng.randrange(16, len(data)) for _ in range(steps)]:
        yield f"{name}-cut-{cut}", data[:-cut]
    for i in range(steps):
        flipped = bytearray(data)
        for _ in range(rng.choice((1, 1, 3))):
            flipped[rng.randrange(2, len(data))] = rng.randrange(256)
        yield f"{name}-flip-{i}", bytes(flipped)


def damaged_jpegs():
    for name, data in (
        ("jpeg", jpeg()),
        ("jpeg-444", jpeg(subsampling=0)),
        ("jpeg-progressive", jpeg(progressive=True)),
        ("jpeg-gray", jpeg(mode="L")),
        ("jpeg-64k", jpeg(400, 400, quality=98)),
    ):
        yield from damaged(name, data, 60, name)
    data = jpeg()
    scan = find_scan(data)
    middle = (scan + len(data)) // 2
    yield "jpeg-hole", data[:middle] + bytes(100) + data[middle + 100 :]
    yield "jpeg-ends-early", data[:middle] + b"\xff\xd9"
    yield "jpeg-no-end", data[:-2]
    yield "jpeg-only-header", data[:scan]
    yield "jpeg-only-magic", data[:3]
    yield "jpeg-no-tables", data[:2] + data[data.index(b"\xff\xc0") :]


    frame = data.index(b"\xff\xc0") + 5
    for size in (b"\xff\xdc\xff\xdc", b"\0\0\0\x61", b"\0\x3d\0\0"):
        yield f"jpeg-size-{size.hex()}", data[:frame] + size + data[frame + 4 :]
    yield from damaged_headers(data)


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


SEGMENTS = {
    "jfif-short": segment(0xE0, b"JFIF\0"),
    "jfif-no-density": segment(0xE0, b"JFIF\0\1\1"),
    "adobe-short": segment(0xEE, b"Adobe"),
    "adobe-no-transform": segment(0xEE, b"Adobe\0\x64"),
    "icc-short": segment(0xE2, b"ICC_PROFILE\0"),
    "icc-one-of-two": segment(0xE2, b"ICC_PROFILE\0\1\2profile"),
    "exif-empty": segment(0xE1, b"Exif\0\0"),
    "exif-short": segment(0xE1, b"Exif\0\0II*\0"),
    "exif-not-tiff": segment(0xE1, b"Exif\0\0" + bytes(20)),
    "exif-far": segment(0xE1, b"Exif\0\0II*\0\xff\xff\0\0"),
    "exif-cut": segment(0xE1, EXIF[:-4]),
    "photoshop-short": segment(0xED, b"Photoshop 3.0\08BIM"),
    "photoshop-cut": segment(0xED, b"Photoshop 3.0\08BIM\3\xed\0\0\0\0"),
    "tables-short": segment(0xDB, bytes(30)),
    "tables-none": segment(0xDB, b""),
    "length-0": b"\xff\xe5\0\0",
    "length-1": b"\xff\xe5\0\1",
    "app-empty": segment(0xE5, b""),
    "comment-empty": segment(0xFE, b""),
    "restart": b"\xff\xd0",
    "tem": b"\xff\x01",
    "reserved": b"\xff\x30",
    "padded": b"\xff\xff\xff",
    "junk": b"junk",
    "junk-escaped": b"\xff\0\0",
    "hierarchical": segment(0xDE, b"\x08\0\x3d\0\x61\3\1\x22\0\2\x11\1\3\x11\1"),
}


def damaged_headers(data):
    """A meaningless segment of metadata, before the others and after them."""
    frame = data.index(b"\xff\xc0")
    for name, piece in SEGMENTS.items():
        yield f"jpeg-{name}", data[:2] + piece + data[2:]
        yield f"jpeg-{name}-late", data[:frame] + piece + data[frame:]
