# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""captions.py DIR: makes images with captions and without classes, as in image-text datasets: the
same twelve samples in DIR/plain (a directory), DIR/shards (tar), DIR/all.zip, and DIR/all.lmdb if
there is a module lmdb. Some images have no caption."""

import io
import json
import os
import sys
import tarfile
import zipfile

import numpy
from PIL import Image

SAMPLES = 12


def members(i, rng):
    """The files of a sample, by ending."""
    noise = rng.integers(0, 256, (6, 8, 3), dtype=numpy.uint8)
    image = io.BytesIO()
    Image.fromarray(noise).resize((48, 36), Image.Resampling.BILINEAR).save(image, "JPEG")
    text = f"caption {i}/{i * i} \N{SNOWMAN}" + " more" * i + "\n"
    files = {"jpg": image.getvalue(), "txt": text.encode(),
             "json": json.dumps({"uid": i, "caption": text, "scale": i / 8}).encode()}
    if i % 5 == 4:
        del files["txt"]
    return files


def add(tar, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def main():
    top = sys.argv[1]
    rng = numpy.random.default_rng(3)
    samples = {f"{i:05d}": members(i, rng) for i in range(SAMPLES)}
    os.makedirs(f"{top}/plain/more")
    os.makedirs(f"{top}/shards")
    tars = [tarfile.open(f"{top}/shards/part-{i}.tar", "w") for i in range(2)]
    packed = zipfile.ZipFile(f"{top}/all.zip", "w", zipfile.ZIP_DEFLATED)
    for i, (key, files) in enumerate(samples.items()):
        for ending, data in files.items():
            where = "plain/more" if i % 3 == 0 else "plain"
            with open(f"{top}/{where}/{key}.{ending}", "wb") as file:
                file.write(data)
            add(tars[i % 2], f"{key}.{ending}", data)
            packed.writestr(f"{key}.{ending}", data)
    for tar in tars:
        tar.close()
    packed.close()
    try:
        import lmdb
    except ImportError:
        return
    with lmdb.open(f"{top}/all.lmdb", subdir=False, map_size=1 << 24) as env:
        with env.begin(write=True) as out:
            for key, files in samples.items():
                for ending, data in files.items():
                    out.put(f"{key}.{ending}".encode(), data)


main()
