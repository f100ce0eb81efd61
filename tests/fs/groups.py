# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""groups.py make DIR: makes videos as directories of frames whose names are numbers of several
lengths: DIR/data (a tree), DIR/shards (tar), DIR/all.zip.

groups.py check JOBS_DIR DIR "JOB KIND KEY=VALUE..." ...: compares each sample with Pillow's result
for evenly spaced frames, with one crop and one flip for all, drawn as in augmented.py. KIND: npy,
record, raw, tar, batch, or labels (of batches, from columns x and y); KEY: as in augmented.py, or
frames."""

import glob
import io
import os
import sys
import tarfile
import zipfile

import numpy
from PIL import Image

import masks

N, FRAMES = 9, (4, 5, 9, 12, 4, 7, 13, 6, 4)


def videos():
    for i in range(N):
        values = numpy.random.default_rng(i)
        size = tuple(int(side) for side in values.integers(40, 60, 2))
        for frame in range(FRAMES[i]):
            noise = values.integers(0, 256, (7, 9, 3), numpy.uint8)
            file = io.BytesIO()
            Image.fromarray(noise).resize(size, 3).save(file, "JPEG", quality=90)
            yield f"class{i % 2}/video{i}/f{frame + 7}.jpg", file.getvalue()


def make(top):
    os.makedirs(f"{top}/shards")
    tars = [tarfile.open(f"{top}/shards/part-{i}.tar", "w") for i in range(2)]
    packed = zipfile.ZipFile(f"{top}/all.zip", "w")
    for path, data in videos():
        os.makedirs(os.path.dirname(f"{top}/data/{path}"), exist_ok=True)
        with open(f"{top}/data/{path}", "wb") as file:
            file.write(data)
        packed.writestr(path, data)
        info = tarfile.TarInfo(path)
        info.size = len(data)
        tars[int(path[6:].split("/")[1][5:]) % 2].addfile(info, io.BytesIO(data))
    for archive in (*tars, packed):
        archive.close()
    with open(f"{top}/data/metadata.csv", "w", encoding="ascii") as file:
        print("file_name", "x", "y", sep=",", file=file)
        for i in range(N):  # the frame that stands for the video has its labels
            print(f"class{i % 2}/video{i}/f7.jpg", i + 0.5, -i, sep=",", file=file)


def read(epoch, kind, shape):
    """The arrays of the samples, by position."""
    if kind == "tar":
        for path in sorted(glob.glob(f"{epoch}/*.tar")):
            with tarfile.open(path) as shard:
                for member in shard:
                    if member.name.endswith(".npy"):
                        yield numpy.load(io.BytesIO(shard.extractfile(member).read()))
        return
    for path in sorted(glob.glob(f"{epoch}/*.{'raw' if kind == 'raw' else 'npy'}")):
        if kind == "batch" and "labels" not in path:
            yield from numpy.load(path)
        elif kind == "labels" and "labels" in path:
            yield from numpy.load(path)
        elif kind == "record":
            record = numpy.load(path)
            with open(f"{path[:-4]}.cls", encoding="ascii") as label:
                if record["label"] != int(label.read()):
                    sys.exit(f"{path}: label {record['label']}")
            yield record["image"]
        elif kind == "npy":
            yield numpy.load(path)
        elif kind == "raw":
            yield numpy.fromfile(path, numpy.uint8).reshape(shape)


def drawn(image, want, position):
    """Loads augmented.py only here, because it loads torch, which takes long."""
    if not {"seed", "normalize"} & set(want):
        return numpy.asarray(image)
    import augmented
    return augmented.expected(image, augmented.Random(int(want["seed"]), 0, position), want)


def check(job, top, kind, want):
    n = int(want.pop("frames"))
    side = int(want.get("crop", 0))
    taken = list(read(f"{job}/epoch-0000", kind, (n, side, side, 3)))
    with open(f"{job}/epoch-0000.order", encoding="utf-8") as file:
        rows = sorted((int(r[0]), r[2], r[4]) for r in (line.rstrip("\n").split("\t") for line in file))
    if len(rows) != N or len(taken) != N:
        sys.exit(f"{job}: {len(taken)} samples of {len(rows)}")
    if kind == "labels":
        found = [(video + 0.5, -video) for video in (int(path.split("/")[1][5:]) for _, _, path in rows)]
        masks.same(numpy.stack(taken), numpy.array(found, numpy.float32), job)
        print(f"{os.path.basename(job)}: labels of {N} groups")
        return
    files = dict(videos())
    for (position, label, path), array in zip(rows, taken):
        video = os.path.dirname(path)
        count = FRAMES[int(video[-1])]
        if path != f"{video}/f7.jpg" or label != video[5]:
            sys.exit(f"{job}: position {position} is {path}, of {label}")
        frames = []
        for i in range(n):
            image = Image.open(io.BytesIO(files[f"{video}/f{7 + i * count // n}.jpg"]))
            image = masks.resized(image.convert("RGB"), int(want["resize"]), 2)
            if side:
                image = crop(image, side)
            frames.append(drawn(image, want, position))
        masks.same(array, numpy.stack(frames), f"{job}: position {position}, {path}")
    print(f"{os.path.basename(job)}: {len(taken)} groups of {n}")


def crop(image, side):
    top = int(round((image.height - side) / 2.0))
    left = int(round((image.width - side) / 2.0))
    return image.crop((left, top, left + side, top + side))


def main():
    what, *rest = sys.argv[1:]
    if what == "make":
        make(rest[0])
        return
    jobs, top = rest[:2]
    for argument in rest[2:]:
        name, kind, *options = argument.split()
        check(os.path.join(jobs, name), top, kind, dict(option.split("=") for option in options))


main()
