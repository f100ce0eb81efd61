# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""The originals that tests/programs/run compares with: made here, nothing is fetched."""

import io
import os
import tarfile
import zipfile

import numpy
from PIL import Image

SOURCES = ("directory", "tar", "zip")


def picture(seed):
    """Smooth colours and edges, of a size of its own."""
    values = numpy.random.default_rng(seed)
    width, height = (int(side) for side in values.integers(260, 420, 2))
    small = Image.fromarray(values.integers(0, 256, (9, 12, 3), numpy.uint8))
    image = small.resize((width, height), Image.Resampling.BICUBIC)
    image.paste(tuple(int(c) for c in values.integers(0, 256, 3)), (40, 30, 150, 90))
    return image


def encoded(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def photos():
    for label, name in enumerate(("cat", "dog", "emu")):
        for i in range(4):
            yield f"{name}/{i}.jpg", encoded(picture(10 * label + i), "JPEG", quality=90)


def scans():
    """Gray of 16 bits, as of a CT, and volumes' slices of float32."""
    for label, name in enumerate(("healthy", "ill")):
        for i in range(4):
            values = numpy.random.default_rng([label, i]).integers(0, 65536, (16, 20))
            image = Image.fromarray(values.astype(numpy.int32)).resize((200, 160), 3)
            whole = numpy.asarray(image).clip(0, 65535).astype(numpy.int32)
            yield f"{name}/{i}.png", encoded(Image.fromarray(whole), "PNG")


def slices():
    for i in range(4):
        values = numpy.random.default_rng(i).normal(0, 1, (50, 60)).astype(numpy.float32)
        yield f"slices/{i}.tiff", encoded(Image.fromarray(values), "TIFF")


def street():
    """Photographs, and masks of the same names whose indices are classes."""
    for i in range(4):
        image = picture(100 + i)
        yield f"images/{i:03}.jpg", encoded(image, "JPEG", quality=90)
        indices = numpy.random.default_rng(i).integers(0, 21, (12, 16), numpy.uint8)
        mask = Image.fromarray(indices).resize(image.size, Image.Resampling.NEAREST)
        mask = Image.fromarray(numpy.asarray(mask), "P")
        mask.putpalette(numpy.random.default_rng(7).integers(0, 256, 63, numpy.uint8).tobytes())
        yield f"masks/{i:03}.png", encoded(mask, "PNG")


def write(place, files):
    """The same files in each source; {source: path}, {name: bytes}."""
    files = dict(files)
    os.makedirs(place)
    with tarfile.open(f"{place}/all.tar", "w") as tar, zipfile.ZipFile(f"{place}/all.zip", "w") as z:
        for name, data in files.items():
            path = os.path.join(place, "directory", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as out:
                out.write(data)
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
            z.writestr(name, data)
    return {"directory": f"{place}/directory", "tar": f"{place}/all.tar",
            "zip": f"{place}/all.zip"}, files
