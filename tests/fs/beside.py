# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""beside.py make DIR: makes images with files of any content beside them: the same samples in
DIR/plain (a directory), DIR/shards (tar), DIR/all.zip, and DIR/all.lmdb if there is a module lmdb;
and DIR/plain/metadata.csv with captions and numbers.

beside.py flat JOB DIR ENDING...: compares the files beside the samples in epoch-0000 of the job,
opened in any order, with the made ones. beside.py tar JOB DIR ENDING...: compares the members of
its shards. beside.py labels JOB DIR COLUMN...: compares the labels of its records or batches with
the columns."""

import csv
import glob
import io
import os
import pickle
import random
import sys
import tarfile
import zipfile

import numpy
from PIL import Image

# Sizes of the .txt of each sample: a block of tar and its neighbours, none, more than a page.
SIZES = (None, 0, 1, 511, 512, 513, 1024, 70000, 1535, 1536, None, 7, 4096, 100)


def members(i, rng):
    """The files of a sample, by ending."""
    noise = rng.integers(0, 256, (6, 8, 3), dtype=numpy.uint8)
    image = io.BytesIO()
    Image.fromarray(noise).resize((48, 36), Image.Resampling.BILINEAR).save(image, "JPEG")
    files = {"json": b'{"uid": %d, "more": "%s"}' % (i, b"x" * (i * 37)), "jpg": image.getvalue()}
    if SIZES[i] is not None:
        files["TXT" if i % 4 == 1 else "txt"] = rng.bytes(SIZES[i])
    return files


def rows(samples):
    """Captions that CSV has to quote, and numbers; the last samples have no caption."""
    for i, path in enumerate(sorted(samples)):
        caption = f'a "rose", {i}\nred; caf\N{LATIN SMALL LETTER E WITH ACUTE}' + " x" * i
        yield path, caption if i < len(SIZES) - 2 else "", i / 8 - 1, i * i, 1e-3 * i


def make(top):
    rng = numpy.random.default_rng(5)
    samples = {f"{i:05d}": members(i, rng) for i in range(len(SIZES))}
    os.makedirs(f"{top}/plain/more")
    os.makedirs(f"{top}/shards")
    tars = [tarfile.open(f"{top}/shards/part-{i}.tar", "w") for i in range(2)]
    packed = zipfile.ZipFile(f"{top}/all.zip", "w", zipfile.ZIP_DEFLATED)
    truth, paths = {}, []
    for i, (key, files) in enumerate(samples.items()):
        truth[key] = {ending.lower(): data for ending, data in files.items() if ending != "jpg"}
        where = "more/" if i % 3 == 0 else ""
        paths.append(f"{where}{key}.jpg")
        for ending, data in files.items():
            with open(f"{top}/plain/{where}{key}.{ending}", "wb") as file:
                file.write(data)
            info = tarfile.TarInfo(f"{key}.{ending}")
            info.size = len(data)
            tars[i % 2].addfile(info, io.BytesIO(data))
    names = [(f"{key}.{ending}", data) for key, files in samples.items()
             for ending, data in files.items()]
    random.Random(1).shuffle(names)  # files of one sample need not follow each other
    for name, data in names:
        packed.writestr(name, data)
    for archive in (*tars, packed):
        archive.close()
    with open(f"{top}/truth", "wb") as file:
        pickle.dump((truth, {path: row for path, *row in rows(paths)}), file)
    with open(f"{top}/plain/metadata.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("file_name", "caption", "x", "y", "z"), *rows(paths)])
    try:
        import lmdb
    except ImportError:
        return
    with lmdb.open(f"{top}/all.lmdb", subdir=False, map_size=1 << 24) as env:
        with env.begin(write=True) as out:
            for name, data in names:
                out.put(name.encode(), data)


def load(top):
    with open(f"{top}/truth", "rb") as file:
        return pickle.load(file)


def order(job):
    with open(f"{job}/epoch-0000.order", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return {int(line[0]): line[4] for line in lines}


def expected(top, path, ending, column):
    truth, table = load(top)
    if column and ending == "txt":
        return table[path][0].encode()
    return truth[os.path.basename(path)[:5]].get(ending, b"")


def compare(top, job, found, endings):
    """found: {position: {ending: bytes}}"""
    column = "caption" in endings
    endings = ["txt" if ending == "caption" else ending for ending in endings]
    taken = order(job)
    if sorted(found) != list(range(len(SIZES))) or sorted(taken) != sorted(found):
        sys.exit(f"positions {sorted(found)}, taken {sorted(taken)}")
    for position, files in found.items():
        if sorted(files) != sorted(endings):
            sys.exit(f"position {position} has {sorted(files)}, not {endings}")
        for ending, data in files.items():
            wanted = expected(top, taken[position], ending, column)
            if data != wanted:
                sys.exit(f"{position}.{ending} of {taken[position]}: {len(data)} bytes "
                         f"{data[:40]!r}, not {len(wanted)} {wanted[:40]!r}")


def read_flat(job, top, endings):
    paths = [f"{job}/epoch-0000/{position:08d}.{'txt' if ending == 'caption' else ending}"
             for position in range(len(SIZES)) for ending in endings]
    random.Random(2).shuffle(paths)
    found = {position: {} for position in range(len(SIZES))}
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
            if os.fstat(file.fileno()).st_size != len(data):
                sys.exit(f"{path}: is told to have {os.fstat(file.fileno()).st_size} bytes")
            file.seek(3)
            if file.read(5) != data[3:8]:
                sys.exit(f"{path}: other bytes in the middle")
        name = os.path.basename(path)
        found[int(name[:8])][name[9:]] = data
    compare(top, job, found, endings)


def read_tar(job, top, endings):
    for mode in ("r:", "r|"):  # with seeks, and as a stream
        found = {}
        for path in sorted(glob.glob(f"{job}/epoch-0000/*.tar")):
            with tarfile.open(path, mode) as tar:
                stems = []
                for member in tar:
                    stem, ending = member.name.split(".")
                    stems.append(stem)
                    if ending not in ("ppm", "cls"):
                        found.setdefault(int(stem), {})[ending] = tar.extractfile(member).read()
                    elif ending == "ppm" and tar.extractfile(member).read(2) != b"P6":
                        sys.exit(f"{path}: {member.name} is no image")
                if stems != sorted(stems):
                    sys.exit(f"{path}: members of a sample are not together: {stems}")
        compare(top, job, found, endings)


def read_labels(job, top, columns):
    """Vectors of float32, as numpy.load gives them."""
    _, table = load(top)
    paths = sorted(glob.glob(f"{job}/epoch-0000/*.npy"))
    if "batch" in paths[0]:
        read = [numpy.load(path) for path in paths if "labels" in path]
        found = numpy.concatenate(read)
    else:
        records = [numpy.load(path) for path in paths]
        found = numpy.stack([record["label"] for record in records])
        if any(record["image"].shape != (16, 16, 3) or not record["image"].any()
               for record in records):
            sys.exit("a record without its image")
    taken = order(job)
    wanted = numpy.array([[table[taken[i]]["-xyz".index(column)] for column in columns]
                          for i in range(len(found))], numpy.float32)
    if found.dtype != numpy.float32 or not numpy.array_equal(found, wanted):
        sys.exit(f"{found.dtype} {found.tolist()}, not {wanted.tolist()}")


def main():
    what, *rest = sys.argv[1:]
    if what == "make":
        make(rest[0])
    else:
        {"flat": read_flat, "tar": read_tar, "labels": read_labels}[what](rest[0], rest[1], rest[2:])


main()
