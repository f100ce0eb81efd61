# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Difficult BMP, GIF, PPM, TIFF and WebP files for tests/clients/exact."""

import io
import struct

import numpy
from PIL import Image, features

from hazards_jpeg import damaged, encode, noise

SIZES = ((37, 29), (1, 1), (1, 9), (5, 1), (8, 8), (33, 2))
MODES = ("1", "L", "P", "RGB")


def picture(mode="RGB", width=37, height=29):
    return Image.fromarray(noise(width, height, 3)).convert(mode)


# --- BMP ------------------------------------------------------------------------------------


def bmp(width, height, bits, compression, data, palette=b"", header=40, extra=b"", colours=0):
    fields = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression,
                         len(data), 2835, 2835, colours, 0)
    fields += extra + bytes(max(0, header - 40 - len(extra)) if header > 40 else 0)
    offset = 14 + len(fields) + len(palette)
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + fields + palette + data


def random_bytes(n, seed=1):
    return numpy.random.default_rng(seed).integers(0, 256, n, dtype=numpy.uint8).tobytes()


def rows(width, bits, height):
    return random_bytes((width * bits + 31) // 32 * 4 * height, width * bits)


def bmps():
    for mode in (*MODES, "RGBA"):
        for width, height in SIZES:
            yield f"bmp-{mode}-{width}x{height}", encode(picture(mode, width, height), "BMP")
    colours = random_bytes(1024)
    for bits in (1, 4, 8, 16, 24, 32):
        palette = colours[:4 << bits] if bits <= 8 else b""
        for width, height in ((37, 29), (3, 2)):
            data = rows(width, bits, height)
            yield f"bmp-{bits}-{width}", bmp(width, height, bits, 0, data, palette)
            yield f"bmp-{bits}-{width}-down", bmp(width, -height, bits, 0, data, palette)
    masks = {
        16: ((0xF800, 0x7E0, 0x1F, 0), (0x7C00, 0x3E0, 0x1F, 0), (0xF000, 0xF00, 0xF0, 0xF)),
        24: ((0xFF0000, 0xFF00, 0xFF, 0),),
        32: ((0xFF0000, 0xFF00, 0xFF, 0), (0xFF000000, 0xFF0000, 0xFF00, 0),
             (0xFF000000, 0xFF0000, 0xFF00, 0xFF), (0xFF, 0xFF00, 0xFF0000, 0xFF000000),
             (0xFF0000, 0xFF00, 0xFF, 0xFF000000), (0, 0, 0, 0), (1, 2, 3, 4)),
    }
    for bits, all_masks in masks.items():
        for i, mask in enumerate(all_masks):
            data = rows(37, bits, 29)
            yield f"bmp-fields-{bits}-{i}", bmp(37, 29, bits, 3, data, struct.pack("<3I", *mask[:3]))
            yield f"bmp-v5-{bits}-{i}", bmp(37, 29, bits, 3, data, header=124,
                                            extra=struct.pack("<4I", *mask))
    yield "bmp-few-colours", bmp(37, 29, 8, 0, rows(37, 8, 29), colours[:40], colours=10)
    grays = b"".join(bytes((i, i, i, 0)) for i in range(256))
    yield "bmp-gray", bmp(37, 29, 8, 0, rows(37, 8, 29), grays)
    yield "bmp-gray-16", bmp(37, 29, 8, 0, rows(37, 8, 29), grays[:64], colours=16)
    yield "bmp-black-white", bmp(37, 29, 1, 0, rows(37, 1, 29), b"\0\0\0\0\xff\xff\xff\0")
    yield "bmp-white-black", bmp(37, 29, 1, 0, rows(37, 1, 29), b"\xff\xff\xff\0\0\0\0\0")
    old = b"BM" + struct.pack("<IHHI", 0, 0, 0, 14 + 12 + 768)
    old += struct.pack("<IHHHH", 12, 37, 29, 1, 8) + colours[:768] + rows(37, 8, 29)
    yield "bmp-os2", old
    for name, compression, bits in (("8", 1, 8), ("4", 2, 4)):
        palette = colours[:4 << bits]
        run = b"\x05\x37\x20\x11\0\0" * 14 + b"\0\x04\x12\x34\x56\x78\x03\x21\0\0" * 14 + b"\0\1"
        yield f"bmp-rle{name}", bmp(37, 28, bits, compression, run, palette)
        yield f"bmp-rle{name}-short", bmp(37, 60, bits, compression, run, palette)
        yield f"bmp-rle{name}-delta", bmp(37, 28, bits, compression, b"\5\1\0\2\3\1" + run, palette)


# --- PPM --------------------------------------------------------------------------------------


def ppms():
    for mode in ("1", "L", "RGB"):
        for width, height in SIZES:
            yield f"ppm-{mode}-{width}x{height}", encode(picture(mode, width, height), "PPM")
    for most in (1, 3, 15, 100, 254, 256, 1000, 65534, 65535):
        size = 1 if most < 256 else 2
        for kind, channels in ((5, 1), (6, 3)):
            values = numpy.random.default_rng(most).integers(0, most + 1, 37 * 29 * channels)
            values[::3] = numpy.minimum(values[::3], 300)
            values = numpy.minimum(values, most)
            data = values.astype(">u2" if size == 2 else "u1").tobytes()
            yield f"ppm-p{kind}-{most}", b"P%d\n37 29\n%d\n" % (kind, most) + data
    data = random_bytes(37 * 29 * 3)
    yield "ppm-comments", b"P6 # one\n# two\r37 #three\n29\n255#four\n" + data
    yield "ppm-comments-at-once", b"P6\n#c\n37\t29\v255\n" + data
    yield "ppm-more", b"P6\n37 29\n255\n" + data + b"more"


# --- GIF ----------------------------------------------------------------------------------------


def gif_frames():
    big, small = picture("P"), picture("P", 11, 7)
    out = io.BytesIO()
    big.save(out, "GIF", save_all=True, append_images=[picture("P", 37, 29).rotate(90)], loop=0)
    yield "gif-animated", out.getvalue()
    data = bytearray(encode(small, "GIF"))
    yield "gif-small", bytes(data)
    struct.pack_into("<HH", data, 6, 20, 15)  # a larger screen
    yield "gif-within", bytes(data)
    at = data.index(b",\0\0\0\0", 13)
    struct.pack_into("<HH", data, at + 1, 5, 3)
    yield "gif-within-moved", bytes(data)
    struct.pack_into("<HH", data, at + 1, 15, 12)
    yield "gif-beyond", bytes(data)


def gifs():
    for mode in (*MODES, "RGBA"):
        for width, height in SIZES:
            image = picture(mode, width, height)
            yield f"gif-{mode}-{width}x{height}", encode(image, "GIF")
            yield f"gif-{mode}-{width}x{height}-flat", encode(image, "GIF", interlace=0)
    for transparency in (0, 3, 255):
        data = encode(picture("P"), "GIF", transparency=transparency)
        yield f"gif-transparent-{transparency}", data
    for colours in (2, 3, 9, 100):
        data = encode(picture().quantize(colours), "GIF")
        yield f"gif-colours-{colours}", data
    yield "gif-large", encode(Image.fromarray(random_image(400, 300)).convert("P"), "GIF")
    yield "gif-comment", encode(picture("P"), "GIF", comment=b"x" * 600)
    yield from gif_frames()
    data = encode(picture("L"), "GIF")
    yield "gif-gray-no-palette", no_palette(data)


def no_palette(data):
    """The colour table of the screen is missing."""
    size = 3 << ((data[10] & 7) + 1) if data[10] & 128 else 0
    return data[:10] + bytes((data[10] & 127,)) + data[11:13] + data[13 + size:]


def random_image(width, height):
    return numpy.frombuffer(random_bytes(width * height * 3), numpy.uint8).reshape(height, width, 3)


# --- WebP -----------------------------------------------------------------------------------------


def webps():
    if not features.check("webp"):
        return
    for mode in ("RGB", "RGBA"):
        for width, height in SIZES:
            image = picture(mode, width, height)
            if mode == "RGBA":
                image.putalpha(picture("L", width, height))
            yield f"webp-{mode}-{width}x{height}", encode(image, "WEBP", quality=70)
            yield f"webp-{mode}-{width}x{height}-lossless", encode(image, "WEBP", lossless=True)
    image = picture("RGBA")
    image.putalpha(picture("L"))
    yield "webp-exact", encode(image, "WEBP", lossless=True, exact=True)
    out = io.BytesIO()
    image.save(out, "WEBP", save_all=True, append_images=[picture("RGBA").rotate(180)])
    yield "webp-animated", out.getvalue()
    yield "webp-profile", encode(picture(), "WEBP", icc_profile=bytes(300))
    yield "webp-large", encode(Image.fromarray(random_image(400, 300)), "WEBP")


# --- TIFF -----------------------------------------------------------------------------------------


def tiff_file(order, entries, data):
    """entries: (tag, type, [values])."""
    sizes = {1: ("B", 1), 3: ("H", 2), 4: ("I", 4)}
    body, tail = b"", b""
    start = 8 + 2 + 12 * (len(entries) + 1) + 4
    entries = sorted([*entries, (273, 4, [0])])
    extra = sum(len(v) * sizes[t][1] for _, t, v in entries if len(v) * sizes[t][1] > 4)
    for tag, kind, values in entries:
        if tag == 273:
            values = [start + extra]
        form, size = sizes[kind]
        packed = struct.pack(order + form * len(values), *values)
        if len(packed) > 4:
            packed, tail = struct.pack(order + "I", start + len(tail)), tail + packed
        body += struct.pack(order + "HHI", tag, kind, len(values)) + packed.ljust(4, b"\0")
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "IH", 8, len(entries))
    return head + body + bytes(4) + tail + data


def tiff_kind(order, bits, photometric, extra=(), width=37, height=29, more=()):
    n = len(bits)
    row = (width * sum(bits) + 7) // 8
    data = random_bytes(row * height, sum(bits) + photometric)
    entries = [(256, 4, [width]), (257, 4, [height]), (258, 3, list(bits)), (259, 3, [1]),
               (262, 3, [photometric]), (277, 3, [n]), (278, 4, [height]), (279, 4, [len(data)])]
    if extra:
        entries.append((338, 3, list(extra)))
    if photometric == 3:
        table = numpy.random.default_rng(1).integers(0, 65536, 3 << bits[0]).tolist()
        entries.append((320, 3, table))
    return tiff_file(order, entries + list(more), data)


def tiffs():
    for mode in (*MODES, "RGBA", "LA", "CMYK", "I;16"):
        for width, height in ((37, 29), (1, 1), (33, 2)):
            if mode == "I;16":
                array = numpy.frombuffer(random_bytes(width * height * 2), numpy.uint16) % 600
                image = Image.fromarray(array.reshape(height, width))
            else:
                image = picture("RGB", width, height).convert("L" if mode == "LA" else mode) \
                    if mode != "LA" else picture("RGBA", width, height).convert("LA")
            kinds = ["raw", "tiff_lzw", "packbits", "tiff_adobe_deflate"]
            kinds += ["group4", "group3"] if mode == "1" else []
            kinds += ["jpeg"] if mode in ("RGB", "L") and width > 8 and height > 8 else []
            for kind in kinds:
                name = f"tiff-{mode}-{kind}-{width}x{height}".replace(";", "")
                yield name, encode(image, "TIFF", compression=kind)
    for order in "<>":
        for bits in (1, 2, 4, 8):
            for photometric in (0, 1, 3):
                yield f"tiff-{bits}-{photometric}{order}", tiff_kind(order, (bits,), photometric)
        yield f"tiff-16-1{order}", tiff_kind(order, (16,), 1)
        yield f"tiff-rgb-16{order}", tiff_kind(order, (16,) * 3, 2)
        for extra in ((0,), (1,), (2,)):
            yield f"tiff-rgb-{extra[0]}{order}", tiff_kind(order, (8,) * 4, 2, extra)
            yield f"tiff-rgb-16-{extra[0]}{order}", tiff_kind(order, (16,) * 4, 2, extra)
        yield f"tiff-cmyk{order}", tiff_kind(order, (8,) * 4, 5)
        for orientation in range(1, 9):
            more = ((274, 3, [orientation]),)
            yield f"tiff-turned-{orientation}{order}", tiff_kind(order, (8,) * 3, 2, more=more)
    out = io.BytesIO()
    picture().save(out, "TIFF", save_all=True, append_images=[picture().rotate(90)])
    yield "tiff-pages", out.getvalue()
    yield "tiff-large", encode(Image.fromarray(random_image(400, 300)), "TIFF",
                               compression="tiff_lzw")


def others():
    yield from bmps()
    yield from ppms()
    yield from gifs()
    yield from webps()
    yield from tiffs()


def damaged_others():
    image = picture()
    for name, data, steps in (
        ("bmp", encode(image, "BMP"), 40),
        ("bmp-p", encode(image.convert("P"), "BMP"), 40),
        ("ppm", encode(image, "PPM"), 40),
        ("gif", encode(image, "GIF"), 60),
        ("gif-flat", encode(image, "GIF", interlace=0), 60),
        ("webp", encode(image, "WEBP"), 40),
        ("webp-lossless", encode(image, "WEBP", lossless=True), 40),
        ("tiff-lzw", encode(image, "TIFF", compression="tiff_lzw"), 40),
    ):
        yield from damaged(name, data, steps, name)
