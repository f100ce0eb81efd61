#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""What people read with, one function for each: an epoch of a view, as (label or None, name or
None, pixels) of each sample. readers.py CLIENT DIRECTORY... runs one of them in a process of its
own, on one directory for each epoch, of a mount or any other, and prints a line of JSON for each.
tests/clients/views uses it on mounts, the bench counts its system calls."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile

import numpy
from PIL import Image

SIDE = 56  # of the samples, for readers of raw pixels


def names(directory, *endings):
    return sorted(n for n in os.listdir(directory)
                  if n.endswith(endings) and ".labels." not in n)


def label_of(path):
    with open(os.path.splitext(path)[0] + ".cls", encoding="ascii") as file:
        return int(file.read())


def pil(source):
    with Image.open(source) as image:
        return numpy.asarray(image.convert("RGB"))


def flat(read, *endings):
    """Files in the order of their names, and their labels."""
    def epoch(directory):
        for name in names(directory, *endings):
            path = os.path.join(directory, name)
            yield label_of(path), name, read(path)
    return epoch


def cv2_imread(path):
    import cv2
    return cv2.imread(path)[:, :, ::-1]


def torchvision_io(path):
    import torchvision.io
    return torchvision.io.read_image(path).permute(1, 2, 0).numpy()


def fromfile(path):
    return numpy.fromfile(path, numpy.uint8).reshape(SIDE, SIDE, 3)


def memmap(path):
    return numpy.memmap(path, numpy.uint8, "r", shape=(SIDE, SIDE, 3))


def imagefolder(workers, shuffle, persistent=False, drop_last=False):
    """torchvision's ImageFolder in torch's DataLoader, as the examples of both have it; the
    loader is made once for all epochs."""
    loaders = {}

    def epoch(directory):
        import torch
        from torchvision import datasets, transforms
        if directory not in loaders:
            torch.manual_seed(7)
            data = datasets.ImageFolder(directory, transforms.PILToTensor())
            loaders[directory] = torch.utils.data.DataLoader(
                data, 7, shuffle=shuffle, num_workers=workers, drop_last=drop_last,
                persistent_workers=persistent)
        for images, labels in loaders[directory]:
            for image, label in zip(images, labels):
                yield int(label), None, image.permute(1, 2, 0).numpy()
    return epoch


def batches(**load):
    def epoch(directory):
        for name in names(directory, ".npy"):
            path = os.path.join(directory, name)
            labels = numpy.load(path[:-3] + "labels.npy", **load)
            for label, image in zip(labels, numpy.load(path, **load)):
                yield int(label), None, image
    return epoch


def webdataset(directory):
    """A reader of WebDataset's convention: consecutive members whose names are equal up to the
    first dot of the last part are one sample, the rest of the name is the field's."""
    for shard in names(directory, ".tar"):
        with tarfile.open(os.path.join(directory, shard), "r|") as stream:
            sample = {}
            for member in stream:
                folder, _, last = member.name.rpartition("/")
                key, _, field = last.partition(".")
                key = f"{folder}/{key}"
                if sample and sample["key"] != key:
                    yield from decoded(sample)
                    sample = {}
                sample["key"] = key
                sample[field] = stream.extractfile(member).read()
            if sample:
                yield from decoded(sample)


def decoded(sample):
    yield int(sample["cls"]), sample["key"], pil(io.BytesIO(sample["ppm"]))


def tarfile_random(directory):
    """Members from the last to the first."""
    for shard in names(directory, ".tar"):
        with tarfile.open(os.path.join(directory, shard)) as archive:
            for member in reversed(archive.getmembers()):
                if member.name.endswith(".ppm"):
                    label = archive.extractfile(member.name[:-3] + "cls").read()
                    yield int(label), member.name, pil(archive.extractfile(member))


def copied(*command):
    """A program copies the directory; what it wrote is looked at."""
    def epoch(directory):
        with tempfile.TemporaryDirectory() as place:
            target = os.path.join(place, "copy")
            os.mkdir(target)
            subprocess.run([*command, directory + "/.", target + "/"], check=True)
            yield from flat(pil, ".ppm")(target)
    return epoch


def gnu_tar(directory):
    for shard in names(directory, ".tar"):
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["tar", "-xf", os.path.join(directory, shard), "-C", place], check=True)
            yield from flat(pil, ".ppm")(place)


def md5sum(directory):
    """Twice in a row: the sums have to be the same, and those of the files."""
    files = [os.path.join(directory, n) for n in names(directory, ".ppm")]
    first, second = (subprocess.run(["md5sum", *files], check=True, stdout=subprocess.PIPE,
                                    text=True).stdout.split()[::2] for _ in range(2))
    assert first == second, "md5sum of the same files differs"
    for path, expected in zip(files, first):
        with open(path, "rb") as file:
            data = file.read()
        assert hashlib.md5(data).hexdigest() == expected, f"{path}: not what md5sum read"
        yield label_of(path), os.path.basename(path), pil(io.BytesIO(data))


def fio_verify(directory):
    """fio reads every file several times in pieces, in and out of order."""
    files = [os.path.join(directory, n) for n in names(directory, ".ppm")]
    for pattern in ("read", "randread"):
        subprocess.run(["fio", "--name=x", "--readonly", f"--rw={pattern}", "--bs=1713",
                        "--loops=2", "--filename=" + ":".join(files), "--output=/dev/null"],
                       check=True)
    yield from flat(pil, ".ppm")(directory)


def mirror(directory):
    for folder in sorted(os.listdir(directory)):
        for name in names(os.path.join(directory, folder), ".ppm"):
            yield folder, f"{folder}/{name}", pil(os.path.join(directory, folder, name))


CLIENTS = {
    "PIL, ppm": flat(pil, ".ppm"),
    "PIL, bmp": flat(pil, ".bmp"),
    "PIL, png": flat(pil, ".png"),
    "cv2.imread, ppm": flat(cv2_imread, ".ppm"),
    "cv2.imread, bmp": flat(cv2_imread, ".bmp"),
    "cv2.imread, png": flat(cv2_imread, ".png"),
    "torchvision.io, png": flat(torchvision_io, ".png"),
    "numpy.load": flat(numpy.load, ".npy"),
    "numpy.load, mmap_mode": flat(lambda path: numpy.load(path, mmap_mode="r"), ".npy"),
    "numpy.fromfile": flat(fromfile, ".raw"),
    "numpy.memmap": flat(memmap, ".raw"),
    "numpy.load of batches": batches(),
    "numpy.load of batches, mmap_mode": batches(mmap_mode="r"),
    **{f"ImageFolder, {workers} workers, shuffle={shuffle}": imagefolder(workers, shuffle)
       for workers in (0, 2, 4) for shuffle in (True, False)},
    "ImageFolder, persistent workers": imagefolder(2, True, persistent=True),
    "WebDataset's convention": webdataset,
    "tarfile, backwards": tarfile_random,
    "GNU tar": gnu_tar,
    "cp -r": copied("cp", "-r"),
    "rsync -a": copied("rsync", "-a"),
    "md5sum": md5sum,
    "fio": fio_verify,
    "PIL, mirror": mirror,
}


def digest(pixels):
    return hashlib.sha1(numpy.ascontiguousarray(pixels).tobytes()).hexdigest()


def main():
    client = sys.argv[1]
    for directory in sys.argv[2:]:
        print(json.dumps([(label, name, digest(pixels))
                          for label, name, pixels in CLIENTS[client](directory)]), flush=True)


if __name__ == "__main__":
    main()
