#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Reads like one training job, for the bench: epochs of samples with their labels, in batches.
Sleeps as long as a model would compute.

    imagefolder   torchvision's ImageFolder and torch's DataLoader, shuffle=True
    flat          numpy.load of NNNNNNNN.npy and its .cls, in the order of names
    record        NNNNNNNN.npy, which contains its label, with numpy.frombuffer
    batch         numpy.load of batch-NNNNNN.npy and its labels
    mapped        numpy.load of batches with mmap_mode="r"; each page is read
    ffcv          FFCV's Loader on a .beton file; the name tells whether it has jpg or raw

Prints "ready" when all is imported and listed, begins when it reads a line, and prints one line of
JSON. Times are those of the machine's monotonic clock, so those of several processes can be
compared."""

import argparse
import builtins
import json
import os
import resource
import sys
import time

PAGE = 4096


def imagefolder(args):
    """Yields an iterator of batches for each epoch."""
    import torch
    from torch.utils.data import DataLoader
    from torchvision import datasets, transforms
    torch.set_num_threads(1)
    steps = [transforms.Resize(args.resize)] * bool(args.resize)
    steps += [transforms.CenterCrop(args.crop)] * bool(args.crop)
    data = datasets.ImageFolder(args.directory, transforms.Compose([*steps,
                                                                    transforms.PILToTensor()]))
    data = part(data, args, torch.utils.data.Subset)
    torch.manual_seed(args.seed)
    loader = DataLoader(data, args.batch, shuffle=True, num_workers=args.workers,
                        persistent_workers=args.workers > 0)
    return lambda: iter(loader)


def part(data, args, subset):
    """Returns the samples of args.part, for a job that reads only a part of the directory."""
    if args.part is None:
        return data
    first, end = (int(x) for x in args.part.split(":"))
    return subset(data, range(first, min(end, len(data))))


def flat(args):
    import numpy
    names = sorted(n for n in os.listdir(args.directory) if n.endswith(".npy"))

    def batches():
        for i in range(0, len(names), args.batch):
            some = [os.path.join(args.directory, n) for n in names[i:i + args.batch]]
            images = numpy.stack([numpy.load(path) for path in some])
            labels = []
            for path in some:
                with open(path[:-3] + "cls", "rb", buffering=0) as file:
                    labels.append(int(file.read()))
            yield images, labels
    return batches


def record(args):
    import numpy
    names = sorted(n for n in os.listdir(args.directory) if n.endswith(".npy"))

    def load(name, kind):
        with open(os.path.join(args.directory, name), "rb", buffering=0) as file:
            return numpy.frombuffer(file.read(), kind, 1, 128)[0]

    def batches():
        kind = None
        for i in range(0, len(names), args.batch):
            kind = kind or numpy.load(os.path.join(args.directory, names[0])).dtype
            some = [load(n, kind) for n in names[i:i + args.batch]]
            yield numpy.stack([r["image"] for r in some]), [int(r["label"]) for r in some]
    return batches


def batch(args, mode=None):
    import numpy
    names = sorted(n for n in os.listdir(args.directory) if n.endswith(".npy")
                   and ".labels." not in n)

    def batches():
        for name in names:
            path = os.path.join(args.directory, name)
            yield numpy.load(path, mode), numpy.load(path[:-3] + "labels.npy")
    return batches


def mapped(args):
    batches = batch(args, "r")

    def touched():
        for images, labels in batches():
            images.reshape(-1)[::PAGE].max()
            yield images, labels
    return touched


def ffcv(args):
    from ffcv.fields.decoders import (CenterCropRGBImageDecoder, IntDecoder,
                                      SimpleRGBImageDecoder)
    from ffcv.loader import Loader, OrderOption
    decoder = SimpleRGBImageDecoder()
    if args.resize:
        decoder = CenterCropRGBImageDecoder((args.crop, args.crop), args.crop / args.resize)
    loader = Loader(args.directory, args.batch, num_workers=max(args.workers, 1),
                    order=OrderOption.RANDOM, seed=args.seed, drop_last=False,
                    pipelines={"image": [decoder], "label": [IntDecoder()]})
    return lambda: iter(loader)


KINDS = {"imagefolder": imagefolder, "flat": flat, "record": record, "batch": batch,
         "mapped": mapped, "ffcv": ffcv}


def rusage():
    own, workers = (resource.getrusage(who) for who in (resource.RUSAGE_SELF,
                                                        resource.RUSAGE_CHILDREN))
    return (own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime,
            own.ru_maxrss, workers.ru_maxrss)


def read(args, epochs, count):
    begin = time.monotonic()
    samples, waited = 0, 0.0
    for _ in range(count):
        iterator = epochs()
        while True:
            asked = time.monotonic()
            got = next(iterator, None)
            waited += time.monotonic() - asked
            if got is None:
                break
            samples += len(got[1])
            if args.step:
                time.sleep(args.step * len(got[1]) / 1000)
        del iterator
    return begin, time.monotonic(), samples, waited


def yielding(opens):
    """Returns an open() that first gives up the CPU, as a request to a file system would."""
    def opened(*args, **kwargs):
        os.sched_yield()
        return opens(*args, **kwargs)
    return opened


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("directory")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--warm", type=int, default=0, help="epochs read before it is ready")
    parser.add_argument("--resize", type=int, default=0)
    parser.add_argument("--crop", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--part", help="FIRST:END of the samples")
    parser.add_argument("--step", type=float, default=0, help="ms of a model's work per sample")
    parser.add_argument("--yields", action="store_true",
                        help="gives up its CPU before each open()")
    parser.add_argument("--start", type=float, default=0, help="seconds after the others")
    args = parser.parse_args()
    if args.yields:
        builtins.open = yielding(open)
    epochs = KINDS[args.kind](args)
    read(args, epochs, args.warm)
    before = rusage()[0]
    print("ready", flush=True)
    sys.stdin.readline()
    time.sleep(args.start)
    begin, end, samples, waited = read(args, epochs, args.epochs)
    del epochs  # ends the workers; only then their CPU time is counted
    cpu, own, worker = rusage()
    print(json.dumps({"begin": begin, "end": end, "samples": samples, "waited": waited,
                      "cpu_s": cpu - before, "rss_kb": own + args.workers * worker}))


if __name__ == "__main__":
    main()
