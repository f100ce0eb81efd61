#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""pixels.py PREPARE_PROGRAM [DIR]: do prepared samples have the pixels that PIL and
torchvision would give a training script?

Writes images of every kind that is known to be hard, adds the photographs below DIR,
prepares them all with PREPARE_PROGRAM (prepare.c) and compares byte by byte. Damaged
files have to be accepted or refused as PIL does.
"""

import io
import os
import random
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy
from PIL import Image
from torchvision import transforms

warnings.simplefilter("ignore")

PREPARATIONS = [  # resize, crop
    ("none", "none"),
    ("none", "32x32"),
    ("none", "33x200"),
    ("64", "none"),
    ("256", "224x224"),
    ("32", "33x31"),
    ("50x20", "none"),
    ("20x50", "21x49"),
    ("7x9", "12x8"),
]


def noise(width, height, channels, seed=1):
    """Smooth colours with noise on them: rounding errors show in both."""
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


# ---- JPEG


def jpeg(width=97, height=61, mode="RGB", **options):
    image = Image.fromarray(noise(width, height, Image.getmodebands(mode)), mode)
    return encode(image, "JPEG", **options)


def without_adobe(data):
    """Drops the Adobe segment, which says how four channels are meant."""
    at = data.index(b"\xff\xee")
    length = struct.unpack(">H", data[at + 2 : at + 4])[0]
    return data[:at] + data[at + 2 + length :]


def adobe_transform(data, value):
    at = data.index(b"Adobe") + 11
    return data[:at] + bytes([value]) + data[at + 1 :]


def with_restarts(data, interval=3):
    """As written by PIL, but with a restart interval (encoded again by cv2, if there)."""
    try:
        import cv2
    except ImportError:
        return None
    pixels = numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    options = [cv2.IMWRITE_JPEG_RST_INTERVAL, interval]
    return cv2.imencode(".jpg", pixels, options)[1].tobytes()


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
    restarts = with_restarts(jpeg())
    if restarts:
        yield "jpeg-restarts", restarts
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
        ("jpeg-restarts", with_restarts(jpeg())),
        ("jpeg-64k", jpeg(400, 400, quality=98)),
    ):
        if data:
            yield from damaged(name, data, 60, name)
    data = jpeg()
    scan = find_scan(data)
    middle = (scan + len(data)) // 2
    yield "jpeg-hole", data[:middle] + bytes(100) + data[middle + 100 :]
    yield "jpeg-ends-early", data[:middle] + b"\xff\xd9"
    yield "jpeg-only-header", data[:scan]
    yield "jpeg-only-magic", data[:3]
    yield "jpeg-no-tables", data[:2] + data[data.index(b"\xff\xc0") :]


# ---- PNG


def chunk(name, data):
    checksum = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", checksum)


def header(width, height, depth, color, interlaced=False):
    fields = (width, height, depth, color, 0, 0, int(interlaced))
    return chunk(b"IHDR", struct.pack(">IIBBBBB", *fields))


# Adam7: first column, first row, distance of columns, distance of rows
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
    """Rows of samples (height, width, channels), filtered with filter types in turn."""
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
        samples[::2] //= 100  # some that fit eight bits
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
    for width, height in ((0, 29), (37, 0), (20000, 20000), (1 << 31, 1)):
        image = data[:8] + header(width, height, 8, 2) + data[33:]
        yield f"png-header-{width}x{height}", image
    yield "nothing", b""
    yield "text", b"this is not an image\n" * 20
    yield "zeros", bytes(1000)


# ---- comparing


def spec(text):
    """none, 256 or 50x20 as torchvision wants it."""
    if "x" in text:
        return tuple(int(word) for word in text.split("x"))[::-1]
    return None if text == "none" else int(text)


def by_pil(path, resize, crop):
    """The expected bytes and size, or None with the reason."""
    steps = []
    if spec(resize):
        steps.append(transforms.Resize(spec(resize)))
    if spec(crop):
        steps.append(transforms.CenterCrop(spec(crop)))
    try:
        with Image.open(path) as image:
            image = image.convert("RGB")
    except Exception as error:  # PIL refuses in many ways
        return None, f"{type(error).__name__}: {error}"
    image = transforms.Compose(steps)(image)
    return numpy.asarray(image), ""


def size_of(path, default="37x29"):
    try:
        with Image.open(path) as image:
            return "%dx%d" % image.size
    except Exception:
        return default


class Comparison:
    def __init__(self, program, scratch):
        self.program = program
        self.scratch = scratch
        self.passed = self.failed = self.refused = 0
        self.worst = 0

    def report(self, ok, text):
        self.passed += ok
        self.failed += not ok
        if not ok:
            print("FAILED", text)

    def one(self, name, path, line, index, resize, crop):
        width, height, message = (line + " ").split(" ", 2)
        expected, reason = by_pil(path, resize, crop)
        name = f"{name} resize={resize} crop={crop}"
        if expected is None or width == "0":
            self.refused += 1
            text = f"{name}: PIL says '{reason}', we say '{message.strip()}'"
            return self.report(expected is None and width == "0", text)
        data = numpy.fromfile(f"{self.scratch}/{index}.rgb", numpy.uint8)
        if (int(height), int(width), 3) != expected.shape or data.size != expected.size:
            text = f"{name}: is {width}x{height}, expected {expected.shape}"
            return self.report(False, text)
        difference = numpy.abs(data.reshape(expected.shape).astype(int) - expected)
        worst = int(difference.max())
        self.worst = max(self.worst, worst)
        allowed = 0 if resize == "none" else 1
        many = numpy.count_nonzero(difference)
        text = f"{name}: differs by up to {worst} in {many} bytes"
        return self.report(worst <= allowed, text)

    def run(self, files, resize, crop):
        """files: (name, path, size to expect where PIL does not tell)."""
        for start in range(0, len(files), 200):
            part = files[start : start + 200]
            command = [self.program, resize, crop, self.scratch]
            command += [f"{size_of(path, default)}:{path}" for _, path, default in part]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            lines = done.stdout.split("\n")[:-1]
            if done.returncode or len(lines) != len(part):
                text = f"{self.program} ended with {done.returncode}"
                return self.report(False, text)
            for index, (name, path, _) in enumerate(part):
                self.one(name, path, lines[index], index, resize, crop)


def write(directory, images):
    files = []
    for name, data in images:
        path = os.path.join(directory, name)
        with open(path, "wb") as out:
            out.write(data)
        default = "97x61" if name.startswith("jpeg") else "37x29"
        files.append((name, path, default))
    return files


def photographs(directory):
    endings = (".jpg", ".jpeg", ".png")
    found = []
    for root, _, names in os.walk(directory):
        names = [name for name in names if name.lower().endswith(endings)]
        found += [os.path.join(root, name) for name in names]
    return [(path, path, "1x1") for path in sorted(found)]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="pixels-") as directory:
        scratch = os.path.join(directory, "out")
        os.mkdir(scratch)
        comparison = Comparison(os.path.abspath(sys.argv[1]), scratch)
        good = write(directory, [*jpegs(), *pngs()])
        if len(sys.argv) == 3:
            good += photographs(sys.argv[2])
        for resize, crop in PREPARATIONS:
            comparison.run(good, resize, crop)
        bad = write(directory, [*damaged_jpegs(), *damaged_pngs()])
        comparison.run(bad, "none", "none")
        print(f"{len(good)} images in {len(PREPARATIONS)} ways, {len(bad)} damaged files")
        print(f"refused: {comparison.refused}, largest difference: {comparison.worst}")
        print(f"{comparison.passed} passed, {comparison.failed} failed")
        sys.exit(comparison.failed > 0)


if __name__ == "__main__":
    main()
