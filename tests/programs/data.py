# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Makes the originals that tests/programs/run compares with; nothing is downloaded."""

import csv
import io
import json
import os
import tarfile
import zipfile

import numpy
from PIL import Image

METADATA = "metadata.csv"
SOURCES = ("directory", "tar", "zip")


def picture(seed):
    """An image with smooth colours and edges, and its own size."""
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
    """Gray images of 16 bits, as from a CT, and slices of volumes of float32."""
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


def clips():
    """Videos, as directories of frames of one size."""
    for i in range(4):
        for frame in range(3):
            image = picture(300 + 10 * i + frame).resize((200, 150 + i))
            yield f"{('run', 'walk')[i % 2]}/clip{i}/{frame + 8}.jpg", encoded(image, "JPEG", quality=90)


def captioned():
    """Images without classes, as in image-text datasets: captions and properties beside each
    image, the captions also in one file, with numbers to learn."""
    rows = [("file_name", "caption", "metres", "age")]
    for i in range(6):
        text = f'caption {i}: "caf\N{LATIN SMALL LETTER E WITH ACUTE}", ' + "many words " * (60 * i)
        yield f"{i:05}.jpg", encoded(picture(200 + i), "JPEG", quality=90)
        yield f"{i:05}.txt", text.encode()
        yield f"{i:05}.json", json.dumps({"uid": i, "caption": text}).encode()
        rows.append((f"{i:05}.jpg", text, i / 3, 20 + i))
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    yield METADATA, out.getvalue().encode()


def write(place, files):
    """The same files in each source; {source: path}, {name: bytes}."""
    files = dict(files)
    os.makedirs(place)
    metadata = files.pop(METADATA, None)
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
    for directory in (place, f"{place}/directory"):  # of containers it lies beside them
        if metadata is not None:
            with open(f"{directory}/{METADATA}", "wb") as out:
                out.write(metadata)
            files[METADATA] = metadata
    return {"directory": f"{place}/directory", "tar": f"{place}/all.tar",
            "zip": f"{place}/all.zip"}, files
