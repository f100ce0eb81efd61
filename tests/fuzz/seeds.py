# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""seeds.py jpeg|baseline|png|ini|where|journal|peer DIRECTORY: good input for a fuzz program to begin with."""

import glob
import io
import os
import struct
import sys
import zlib

import numpy
from PIL import Image

TOP = os.path.join(os.path.dirname(__file__), "..", "..")
COLUMNS = ("id", "path", "class", "label", "bytes", "mtime", "width", "score", "note")


def image(mode, width=19, height=13):
    rng = numpy.random.default_rng(width)
    small = Image.fromarray(rng.integers(0, 256, (5, 6, 3), dtype=numpy.uint8))
    return small.resize((width, height), Image.Resampling.BILINEAR).convert(mode)


def encode(picture, kind, **options):
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def jpeg():
    for mode in ("L", "RGB", "CMYK"):
        for progressive in (False, True):
            yield encode(image(mode), "JPEG", progressive=progressive)
    for subsampling in (0, 1, 2):
        yield encode(image("RGB", 33, 35), "JPEG", subsampling=subsampling, quality=30)
    profile = {"icc_profile": bytes(300), "exif": b"Exif\0\0II*\0\x08\0\0\0\0\0"}
    yield encode(image("RGB"), "JPEG", **profile)


def baseline():
    """JPEGs, and what fuzz_baseline.c makes some of."""
    for subsampling in (0, 1, 2):
        for quality in (30, 75, 100):
            picture = image("RGB", 33 + quality % 7, 35)
            yield encode(picture, "JPEG", subsampling=subsampling, quality=quality)
            yield encode(picture.convert("L"), "JPEG", quality=quality, optimize=True)
    rng = numpy.random.default_rng(1)
    for number in range(20):
        coefficients = rng.integers(0, 256, 20 * number, dtype=numpy.uint8).tobytes()
        yield bytes((number, 40 + number, 70 - number, 5 * number, number % 5, number)) + coefficients


def png():
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I"):
        picture = image("L" if mode == "I" else mode if mode != "LA" else "RGBA")
        # not compressed: a changed byte is a changed pixel or filter
        yield encode(picture.convert(mode), "PNG", compress_level=0)
        yield encode(picture.convert(mode), "PNG")
    # Adam7, which PIL does not write: one pixel is one row of the first pass
    data = bytearray(encode(image("RGB", 1, 1), "PNG", compress_level=0))
    data[28] = 1
    yield bytes(data)


def ini():
    for path in sorted(glob.glob(os.path.join(TOP, "config", "*.ini"))):
        with open(path, "rb") as file:
            yield file.read()
    yield b"[job]\nname=a\ndataset=b\nwhere=label<3\n[tensor]\nresize=8x9\ncrop=7\n"
    yield b"[joaderfs]\ncache=1M\n[dataset a]\npath=/a\nsymlinks=follow\nextensions=*\n"


def where():
    for column in COLUMNS:
        yield f"{column} < 50 and not {column} is null".encode()
        yield f"{column} in (1, 'a/1', 0x10) or {column} between 1 and 2e3".encode()
    yield b"path like 'a/%' escape '\\' or path glob '*[1-3]'"
    yield b"case label when 1 then id % 2 else length(path) > 3 end"
    yield b"substr(class, 1, 1) || 'x' = upper(note) collate nocase"
    yield b"abs(cast(score as integer)) & ~1 << 2 -- comment\n"


def segment(epoch, before, records, positions=100):
    head = struct.pack("<8s4I2Q2I12x", b"JOADERJ\n", 1, 1, positions, 200, 0, 7, epoch, before)
    checksum = zlib.crc32(head)
    out = head + struct.pack("<I", checksum)
    for record in records:
        body = struct.pack("<BBHII", *record)
        checksum = zlib.crc32(body, checksum)
        out += struct.pack("<I", checksum) + body
    return out


def journal():
    """The first two bytes: how long the first of two segments is."""
    first = [(1, 0, 0, 0, 0), (2, 1, 0, 5, 6), (64, 0, 0, 77, 1), (3, 0, 0, 5, 1), (4, 0, 0, 5, 0)]
    second = [(1, 1, 0, 0, 0), (4, 0, 1, 5, 0), (5, 0, 1, 0, 0), (6, 0, 1, 0, 0), (2, 2, 0, 7, 9)]
    whole = segment(4, 0xFFFFFFFF, first)
    for positions in (100, 99):
        other = segment(5, 4, second, positions)
        yield struct.pack("<H", len(whole)) + whole + other
        yield struct.pack("<H", len(whole)) + whole + other[:-5]
        yield struct.pack("<H", 0) + segment(5, 0xFFFFFFFF, second, positions)


def hello(name):
    return struct.pack("<8sII32sQ64sQ", b"joaderfs", 1, 0, bytes(32), 5, name, 0)


def peer():
    """The first two bytes: a server (0) or a client (1), greeted before (2); the pieces."""
    texts = struct.pack("<IIQII", 0, 6, 77, 8, 0) + b"photoscrop 224"
    space = struct.pack("<II", 1, len(texts)) + texts
    wants = b"".join(struct.pack("<II", 1024 + i, i) for i in range(40))
    fetch = struct.pack("<IIII", 2, 8 + len(wants), 0, 40) + wants
    answers = b""
    for request, status, head, length in ((2, 0, 4, 200), (0, 2, 0, 0), (3, 0, 0, 0), (1, 0, 1, 9)):
        answer = struct.pack("<IIIIQ", 0x7265706A, 1024 + request, status, head, length)
        answers += answer + b"\7" * head + bytes(length)
    for piece in (0, 1, 13, 100):
        yield bytes((0, piece)) + hello(b"theirs") + bytes(32) + space + fetch
        yield bytes((2, piece)) + space + fetch + fetch
        yield bytes((1, piece)) + hello(b"theirs") + bytes(36) + answers
        yield bytes((3, piece)) + answers


def main():
    kinds = {kind.__name__: kind for kind in (jpeg, baseline, png, ini, where, journal, peer)}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    os.makedirs(sys.argv[2], exist_ok=True)
    for number, seed in enumerate(kinds[sys.argv[1]]()):
        with open(os.path.join(sys.argv[2], f"seed-{number:03d}"), "wb") as out:
            out.write(seed)


main()
