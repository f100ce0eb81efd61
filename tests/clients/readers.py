#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Common readers, with a function for each. A function reads an epoch of a view, and gives (label
or None, name or None, pixels) of each sample.

readers.py CLIENT DIRECTORY... runs one of them in its own process, with one directory for each
epoch, of a mount or any other tree, and prints a line of JSON for each epoch. tests/clients/views
uses it on mounts, and tools/bench/round_trips.py counts its system calls.

readers.py --children reads such arguments as lines of JSON, and runs each in a child, so that slow
modules are loaded once. It prints for each child, as JSON: exit status, output, errors."""

import hashlib
import importlib.util
import io
import json
import math
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile

import numpy
from PIL import Image


class Client:
    """A reader and the view that it needs: layout, format, and keys of [view]."""

    def __init__(self, epoch, layout="flat", form="ppm", needs=None, by_epoch=False, **view):
        """epoch: the function; needs: a module or a program; by_epoch: the reader reads files in
        its own order, or twice, which in current/ would begin the next epoch."""
        self.epoch, self.layout, self.form, self.view = epoch, layout, form, view
        self.needs, self.by_epoch, self.in_table = needs, by_epoch, True

    def missing(self):
        """The name of a missing module or program, or None."""
        found = not self.needs or shutil.which(self.needs) or importlib.util.find_spec(self.needs)
        return None if found else self.needs


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
    """Reads files in the order of their names, with their labels."""
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


def square(pixels):
    """Raw pixels do not have the image's width."""
    side = math.isqrt(len(pixels) // 3)
    return pixels.reshape(side, side, 3)


def fromfile(path):
    return square(numpy.fromfile(path, numpy.uint8))


def memmap(path):
    return square(numpy.memmap(path, numpy.uint8, "r"))


def load_mapped(path):
    return numpy.load(path, mmap_mode="r")


def records(directory):
    """Reads each file with its label."""
    for name in names(directory, ".npy"):
        record = numpy.load(os.path.join(directory, name))
        yield int(record["label"]), name, record["image"]


def imagefolder(workers, shuffle, persistent=False):
    """torchvision's ImageFolder in torch's DataLoader, as in the examples of both. One loader
    reads all epochs."""
    loaders = {}

    def epoch(directory):
        import torch
        from torchvision import datasets, transforms
        if directory not in loaders:
            torch.manual_seed(7)
            data = datasets.ImageFolder(directory, transforms.PILToTensor())
            loaders[directory] = torch.utils.data.DataLoader(
                data, 7, shuffle=shuffle, num_workers=workers, persistent_workers=persistent,
                collate_fn=list)  # images of several sizes do not fit into one tensor
        for batch in loaders[directory]:
            for image, label in batch:
                yield label, None, image.permute(1, 2, 0).numpy()
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
    first dot of the last part are one sample, and the rest of the name names the field."""
    for shard in names(directory, ".tar"):
        with open(os.path.join(directory, shard), "rb") as file, \
                tarfile.open(fileobj=file, mode="r|*") as stream:
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
    """Reads the members from the last to the first."""
    for shard in names(directory, ".tar"):
        with tarfile.open(os.path.join(directory, shard)) as archive:
            for member in reversed(archive.getmembers()):
                if member.name.endswith(".ppm"):
                    label = archive.extractfile(member.name[:-3] + "cls").read()
                    yield int(label), member.name, pil(archive.extractfile(member))


def copied(*command):
    """A program copies the directory, and the copy is compared."""
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
    """Runs twice: both sums must be equal, and equal those of the files."""
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
        for i in range(0, len(files), 20):  # fio takes at most 4,096 characters
            subprocess.run(["fio", "--name=x", "--readonly", f"--rw={pattern}", "--bs=1713",
                            "--loops=2", "--filename=" + ":".join(files[i:i + 20]),
                            "--output=/dev/null"], check=True)
    yield from flat(pil, ".ppm")(directory)


def mirror(directory):
    for folder in sorted(os.listdir(directory)):
        for name in names(os.path.join(directory, folder), ".ppm"):
            yield folder, f"{folder}/{name}", pil(os.path.join(directory, folder, name))


def image_folders():
    for workers in (0, 2, 4):
        for shuffle in (True, False):
            client = Client(imagefolder(workers, shuffle), "classes", needs="torchvision")
            client.in_table = workers == 2 and shuffle  # one of these readers is in the table
            yield ("ImageFolder, shuffle=True" if client.in_table else
                   f"ImageFolder, {workers} workers, shuffle={shuffle}"), client


CLIENTS = {
    "PIL, ppm": Client(flat(pil, ".ppm")),
    "PIL, bmp": Client(flat(pil, ".bmp"), form="bmp"),
    "PIL, png": Client(flat(pil, ".png"), form="png"),
    "cv2.imread, ppm": Client(flat(cv2_imread, ".ppm"), needs="cv2"),
    "cv2.imread, bmp": Client(flat(cv2_imread, ".bmp"), form="bmp", needs="cv2"),
    "cv2.imread, png": Client(flat(cv2_imread, ".png"), form="png", needs="cv2"),
    "torchvision.io": Client(flat(torchvision_io, ".png"), form="png", needs="torchvision"),
    "numpy.load": Client(flat(numpy.load, ".npy"), form="npy"),
    "numpy.load, mmap_mode": Client(flat(load_mapped, ".npy"), form="npy", io="cached"),
    "numpy.load, record": Client(records, form="record"),
    "numpy.fromfile": Client(flat(fromfile, ".raw"), form="raw"),
    "numpy.memmap": Client(flat(memmap, ".raw"), form="raw", io="cached"),
    "numpy.load, batches": Client(batches(), "batch", "npy", batch=8),
    "numpy.load, batches, mmap_mode": Client(batches(mmap_mode="r"), "batch", "npy", batch=8),
    **dict(image_folders()),
    "ImageFolder, kept workers":
        Client(imagefolder(2, True, persistent=True), "classes", needs="torchvision"),
    "WebDataset's convention": Client(webdataset, "tar", shard=11),
    "tarfile, backwards": Client(tarfile_random, "tar", shard=11),
    "GNU tar": Client(gnu_tar, "tar", needs="tar", by_epoch=True, shard=11),
    "cp -r": Client(copied("cp", "-r"), needs="cp", by_epoch=True),
    "rsync -a": Client(copied("rsync", "-a"), needs="rsync", by_epoch=True),
    "md5sum": Client(md5sum, needs="md5sum", by_epoch=True),
    "fio": Client(fio_verify, needs="fio", by_epoch=True),
    "PIL, mirror": Client(mirror, "mirror"),
}


def digest(pixels):
    return hashlib.sha1(numpy.ascontiguousarray(pixels).tobytes()).hexdigest()


def run(client, directories):
    for directory in directories:
        print(json.dumps([(label, name, digest(pixels))
                          for label, name, pixels in CLIENTS[client].epoch(directory)]), flush=True)


def run_child(arguments):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            run(arguments[0], arguments[1:])
            sys.exit()
        _, status = os.waitpid(child, 0)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read())
        print(json.dumps([os.waitstatus_to_exitcode(status), *texts]), flush=True)


def run_children():
    for module in ("cv2", "torch", "torchvision.io", "torchvision.datasets"):
        if importlib.util.find_spec(module.partition(".")[0]):
            importlib.import_module(module)
    for line in sys.stdin:
        run_child(json.loads(line))


def main():
    if sys.argv[1] == "--children":
        run_children()
    else:
        run(sys.argv[1], sys.argv[2:])


if __name__ == "__main__":
    main()
