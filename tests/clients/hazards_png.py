# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Difficult PNGs for tests/clients/exact."""

import struct
import zlib

import numpy
from PIL import Image

from hazards_jpeg import damaged, encode, noise


def chunk(name, data):
    checksum = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)


def header(width, height, depth, color, interlaced=False):
    fields = (width, height, depth, color, 0, 0, int(interlaced))
    return chunk(b"IHDR", struct.pack(">IIBBBBB", *fields))


# Adam7 by pass: first column, first row, distance of columns, distance of rows
PASSES = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def pack_rows(samples, depth, filters):
    """Rows of samples (height, width, channels), with each filter type in turn."""
    bpp = max(1, samples.shape[2] * depth // 8)
    out = bytearray()
    previous = None
    for index, row in enumerate(samples.reshape(samples.shape[0], -1)):
        if depth == 16:
            packed = row.astype(">u2").tobytes()
        elif depth == 8:
            packed = row.astype(numpy.uint8).tobytes()
        else:
            bits = (row[:, None] >> numpy.arange(depth - 1, -1, -1)) & 1
            packed = numpy.packbits(bits.astype(numpy.uint8).reshape(-1)).tobytes()
        previous = previous or bytes(len(packed))
        out += filter_row(filters[index % len(filters)], packed, previous, bpp)
        previous = packed
    return bytes(out)


def filter_row(kind, row, previous, bpp):
    def predict(i):
        a = row[i - bpp] if i >= bpp else 0
        b = previous[i]
        c = previous[i - bpp] if i >= bpp else 0
        if kind == 4:
            p = a + b - c
            return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        return (0, a, b, (a + b) // 2)[kind]

    return bytes([kind]) + bytes((row[i] - predict(i)) & 255 for i in range(len(row)))


def png(
    color,
    depth,
    width=37,
    height=29,
    interlaced=False,
    extra=b"",
    palette=None,
    split=None,
    wrap=zlib.compress,
):
    rng = numpy.random.default_rng(color * 100 + depth)
    samples = rng.integers(0, 1 << depth, (height, width, CHANNELS[color]))
    if depth == 16:
        samples[::2] //= 100  # some values fit into eight bits
    filters = (0, 1, 2, 3, 4)
    if interlaced:
        passes = (samples[y::dy, x::dx] for x, y, dx, dy in PASSES)
        raw = b"".join(pack_rows(part, depth, filters) for part in passes if part.size)
    else:
        raw = pack_rows(samples, depth, filters)
    packed = wrap(raw)
    step = split or len(packed)
    out = b"\x89PNG\r\n\x1a\n" + header(width, height, depth, color, interlaced)
    if palette is not None:
        out += chunk(b"PLTE", palette)
    out += extra
    for i in range(0, len(packed), step):
        out += chunk(b"IDAT", packed[i : i + step])
    return out + chunk(b"IEND", b"")


def colours(n):
    return bytes(numpy.random.default_rng(n).integers(0, 256, 3 * n, dtype=numpy.uint8))


DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


def png_kinds():
    for color, depths in DEPTHS.items():
        for depth in depths:
            palette = colours(1 << depth) if color == 3 else None
            for width, height in ((37, 29), (1, 1), (1, 9), (5, 1), (8, 8), (3, 2)):
                name = f"png-{color}-{depth}-{width}x{height}"
                yield name, png(color, depth, width, height, palette=palette)
                data = png(color, depth, width, height, True, palette=palette)
                yield f"{name}-interlaced", data


def pngs():
    yield from png_kinds()
    yield "png-palette-short", png(3, 8, palette=colours(20))
    yield "png-palette-short-4", png(3, 4, palette=colours(3))
    yield "png-palette-none", png(3, 8)
    yield "png-palette-odd", png(3, 8, palette=colours(20)[:-1])
    yield "png-palette-too-large", png(3, 8, palette=colours(257))
    yield "png-palette-for-rgb", png(2, 8, palette=colours(256))
    for name, alpha in (("all", bytes(range(256))), ("one", b"\xff\xff\0")):
        data = png(3, 8, palette=colours(256), extra=chunk(b"tRNS", alpha))
        yield f"png-trns-palette-{name}", data
    for depth in (1, 2, 4, 8, 16):
        yield f"png-trns-gray-{depth}", png(0, depth, extra=chunk(b"tRNS", b"\0\1"))
    for depth in (8, 16):
        extra = chunk(b"tRNS", b"\0\1\0\2\0\3")
        yield f"png-trns-rgb-{depth}", png(2, depth, extra=extra)
    extra = chunk(b"gAMA", struct.pack(">I", 100000)) + chunk(b"sBIT", b"\5\5\5")
    yield "png-gamma", png(2, 8, extra=extra)
    extra = chunk(b"tEXt", b"Comment\0text") + chunk(b"prVt", b"1")
    yield "png-text", png(2, 8, extra=extra)
    yield "png-bad-profile", png(2, 8, extra=chunk(b"iCCP", b"name\0\0broken"))
    yield "png-background", png(6, 8, extra=chunk(b"bKGD", b"\0\1\0\2\0\3"))
    for split in (1, 7, 100):
        yield f"png-split-{split}", png(2, 8, split=split)
    yield "png-large", png(2, 8, 400, 300)
    yield "png-large-16-interlaced", png(6, 16, 200, 150, interlaced=True)
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I"):
        image = Image.fromarray(noise(83, 59, 3))
        if mode == "I":
            image = image.convert("L")
        yield f"png-by-pil-{mode}", encode(image.convert(mode), "PNG")


def damaged_pngs():
    data = png(2, 8)
    for name, image, steps in (
        ("png", data, 60),
        ("png-split", png(2, 8, split=200), 60),
        ("png-interlaced", png(6, 8, interlaced=True), 30),
        ("png-64k", png(6, 16, 120, 120), 30),
        ("png-palette", png(3, 4, palette=colours(16)), 30),
    ):
        yield from damaged(name, image, steps, name)
    idat = data.index(b"IDAT")
    yield "png-idat-checksum", data[:-16] + b"\0\0\0\0" + data[-12:]
    pack = zlib.compress
    for name, wrap in (
        ("adler", lambda raw: pack(raw)[:-4] + bytes(4)),
        ("no-adler", lambda raw: pack(raw)[:-4]),
        ("too-much", lambda raw: pack(raw + bytes(5000))),
        ("too-much-at-end", lambda raw: pack(raw) + bytes(5000)),
        ("too-little", lambda raw: pack(raw[:1000])),
        ("filter-5", lambda raw: pack(b"\5" + raw[1:])),
    ):
        yield f"png-{name}", png(2, 8, wrap=wrap)
    yield "png-no-data", data[: idat - 4] + chunk(b"IEND", b"")
    yield "png-empty-data", data[: idat - 4] + chunk(b"IDAT", b"") + data[idat - 4 :]
    yield "png-ihdr-checksum", data[:29] + b"\0\0\0\0" + data[33:]
    wrong = b"\0\0\0\1tIME\0\0\0\0\0"
    yield "png-ancillary-checksum", data[: idat - 4] + wrong + data[idat - 4 :]
    yield "png-only-magic", data[:8]
    for color, depth in ((0, 3), (2, 4), (3, 16), (5, 8), (6, 1)):
        image = data[:8] + header(37, 29, depth, color) + data[33:]
        yield f"png-header-{color}-{depth}", image
    for width, height in ((0, 29), (37, 0), (20000, 20000), (65500, 65500), (1 << 31, 1)):
        image = data[:8] + header(width, height, 8, 2) + data[33:]
        yield f"png-header-{width}x{height}", image
    yield from damaged_metadata(data)
    yield from early_ends()


METADATA = {
    "iccp-empty": (b"iCCP", b""),
    "iccp-no-name": (b"iCCP", b"profile"),
    "iccp-method": (b"iCCP", b"name\0\1x"),
    "trns-short": (b"tRNS", b"\0"),
    "trns-empty": (b"tRNS", b""),
    "gama-short": (b"gAMA", b"\0\0"),
    "chrm-odd": (b"cHRM", bytes(31)),
    "chrm-short": (b"cHRM", bytes(4)),
    "srgb-empty": (b"sRGB", b""),
    "phys-short": (b"pHYs", b"\0\0"),
    "text-empty": (b"tEXt", b""),
    "ztxt-empty": (b"zTXt", b""),
    "ztxt-method": (b"zTXt", b"key\0\1x"),
    "ztxt-broken": (b"zTXt", b"key\0\0broken"),
    "ztxt-bomb": (b"zTXt", b"key\0\0" + zlib.compress(bytes(2000000))),
    "itxt-empty": (b"iTXt", b""),
    "itxt-broken": (b"iTXt", b"key\0\1\0en\0\0broken"),
    "itxt-method": (b"iTXt", b"key\0\1\1en\0\0x"),
    "exif-empty": (b"eXIf", b""),
    "second-header-short": (b"IHDR", bytes(5)),
    "actl-short": (b"acTL", bytes(3)),
    "actl-no-frames": (b"acTL", bytes(8)),
    "fctl-short": (b"fcTL", bytes(8)),
    "fctl-order": (b"fcTL", struct.pack(">I", 5) + bytes(22)),
    "fdat-short": (b"fdAT", b"\0"),
    "unknown": (b"abCd", b""),
    "not-a-name": (b"a+Cd", b""),
}


def damaged_metadata(data):
    at = data.index(b"IDAT") - 4
    for name, (kind, content) in METADATA.items():
        yield f"png-{name}", data[:at] + chunk(kind, content) + data[at:]


def early_ends():
    """Compressed data that end properly, but too early: within a row, or after one."""
    for color, depth, palette in ((2, 8, None), (3, 4, colours(16)), (0, 16, None)):
        row = (37 * CHANNELS[color] * depth + 7) // 8 + 1
        for rows in (0, 1, 10, 28):
            for more in (0, 1):
                for interlaced in (False, True):
                    end = rows * row + more
                    data = png(
                        color,
                        depth,
                        interlaced=interlaced,
                        palette=palette,
                        wrap=lambda raw, end=end: zlib.compress(raw[:end]),
                    )
                    name = f"png-end-{color}-{depth}-{rows}-{more}"
                    yield f"{name}-interlaced" * interlaced or name, data
    for first in range(1, 8):  # after a pass
        passes = [((29 - y + dy - 1) // dy, (37 - x + dx - 1) // dx) for x, y, dx, dy in PASSES]
        end = sum(rows * (columns * 3 + 1) for rows, columns in passes[:first])
        data = png(2, 8, interlaced=True, wrap=lambda raw, end=end: zlib.compress(raw[:end]))
        yield f"png-end-pass-{first}", data
