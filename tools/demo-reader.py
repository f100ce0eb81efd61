#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Reads a directory of images like a training script, with PIL, and sleeps after each image as long
as a training step would take. It knows nothing about joaderfs.

The directory has images with a file NAME.cls for each (as in WebDataset), or is an ImageFolder tree
<class>/<image>. With --seconds, the directory has subdirectories epoch-0000, epoch-0001 and so on,
which are read for this time. Prints one line of JSON."""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import random
import resource
import sys
import time

import numpy
from PIL import Image

IMAGES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def flat_samples(directory):
    """Returns (image, label file) pairs, sorted by name."""
    names = sorted(os.listdir(directory))
    images = [n for n in names if n.lower().endswith(IMAGES)]
    return [(os.path.join(directory, n), os.path.join(directory, os.path.splitext(n)[0] + ".cls"))
            for n in images]


def folder_samples(directory, classes):
    """Returns (image, label) pairs in the order of torchvision's ImageFolder."""
    names = sorted(e.name for e in os.scandir(directory) if e.is_dir())
    found = []
    for label, name in enumerate(names[:classes]):
        for top, folders, files in os.walk(os.path.join(directory, name), followlinks=True):
            folders.sort()
            found += [(os.path.join(top, f), label) for f in sorted(files)
                      if f.lower().endswith(IMAGES)]
    return found


def transform(image, resize, crop):
    """Does torchvision's Resize(int) and CenterCrop on a PIL image."""
    if resize and min(image.size) != resize:
        w, h = image.size
        short, long = min(w, h), max(w, h)
        size = (resize, int(resize * long / short))
        image = image.resize(size if w <= h else size[::-1], Image.Resampling.BILINEAR)
    if crop:
        x = round((image.width - crop) / 2.0)
        y = round((image.height - crop) / 2.0)
        image = image.crop((x, y, x + crop, y + crop))
    return image


def load(path, label, args):
    image = transform(Image.open(path).convert("RGB"), args.resize, args.crop)
    if isinstance(label, str):
        with open(label, encoding="ascii") as file:
            label = int(file.read())
    pixels = numpy.asarray(image)
    assert pixels.ndim == 3 and label >= 0
    return pixels


def ahead(samples, args):
    """Yields for each sample a function that returns it. With --workers, threads read up to four
    samples each ahead, like the workers of a DataLoader."""
    if args.workers == 0:
        for path, label in samples:
            yield path, lambda p=path, l=label: load(p, l, args)
        return
    window = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        for path, label in samples:
            window.append((path, pool.submit(load, path, label, args)))
            if len(window) > 4 * args.workers:
                first, future = window.popleft()
                yield first, future.result
        for path, future in window:
            yield path, future.result


def read_all(samples, args, until):
    done = errors = 0
    waited = 0.0
    for path, sample in ahead(samples, args):
        if time.monotonic() > until:
            break
        begin = time.monotonic()
        try:
            sample()
            done += 1
        except OSError as error:
            errors += 1
            print(f"demo-reader: {path}: {error}", file=sys.stderr)
        waited += time.monotonic() - begin
        time.sleep(args.step / 1000)
    return done, errors, waited


def read_one(args, directory=None, until=math.inf):
    directory = directory or args.directory
    samples = flat_samples(directory) or folder_samples(directory, args.classes)
    if args.shuffle is not None:
        random.Random(args.shuffle).shuffle(samples)
    return read_all(samples, args, until)


def read_epochs(args, begin):
    """Reads epochs for args.seconds. Returns the sums of all epochs."""
    sums, epoch, until = (0, 0, 0.0), 0, begin + args.seconds
    while time.monotonic() < until:
        directory = os.path.join(args.directory, f"epoch-{epoch:04d}")
        sums = tuple(a + b for a, b in zip(sums, read_one(args, directory, until)))
        epoch += 1
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--step", type=float, default=0, help="ms of training per sample")
    parser.add_argument("--start", type=float, default=0, help="seconds to wait at first")
    parser.add_argument("--shuffle", type=int, help="seed for an order of its own")
    parser.add_argument("--classes", type=int, help="ImageFolder: only the first so many")
    parser.add_argument("--resize", type=int, help="short side, done by this script")
    parser.add_argument("--crop", type=int, help="centre crop, done by this script")
    parser.add_argument("--workers", type=int, default=0, help="threads that read ahead")
    parser.add_argument("--seconds", type=float, help="read epochs for so long, then stop")
    args = parser.parse_args()

    time.sleep(args.start)
    begin = time.monotonic()
    done, errors, waited = read_epochs(args, begin) if args.seconds else read_one(args)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "samples": done,
        "errors": errors,
        "seconds": round(time.monotonic() - begin, 3),
        "wait_s": round(waited, 3),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
    }))


if __name__ == "__main__":
    main()
