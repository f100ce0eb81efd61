# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Compares the cost of each step of joaderfs' augmentation, in one thread, with the same step of
torchvision, and with copying as many bytes."""

import os
import statistics
import time

import numpy
from PIL import Image

from mounted import call

SIDE, CROP = 256, 224
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
TIMES = 300
MEMORY = "copy, in memory"  # not from the processor's caches: each sample has its own memory


def torchs():
    """Returns torchvision's transforms of a PIL image, by the names of joaderfs' steps."""
    from torchvision import transforms
    crop = transforms.RandomCrop(CROP)
    numbers = [transforms.ToTensor(), transforms.Normalize(MEAN, DEVIATION)]
    return {"random_crop": transforms.Compose([crop, numpy.asarray]),
            "random_crop, hflip": transforms.Compose(
                [crop, transforms.RandomHorizontalFlip(1), numpy.asarray]),
            "random_crop, normalize, float32, CHW": transforms.Compose([crop, *numbers]),
            "random_crop, normalize, float16, CHW": transforms.Compose(
                [crop, *numbers, lambda tensor: tensor.half()]),
            "random_resized_crop": transforms.Compose(
                [transforms.RandomResizedCrop(CROP), numpy.asarray]),
            "random_resized_crop, hflip, normalize, float32, CHW": transforms.Compose(
                [transforms.RandomResizedCrop(CROP), transforms.RandomHorizontalFlip(1),
                 *numbers])}


def microseconds(step, image):
    found = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        step(image)
        found.append(1e6 * (time.perf_counter() - begin))
    return statistics.median(found)


def ours(args):
    return call([os.path.join(os.path.dirname(args.reader), "augment")])


def augment(args):
    import torch
    torch.set_num_threads(1)
    pixels = numpy.random.default_rng(1).integers(0, 256, (SIDE, SIDE, 3), dtype=numpy.uint8)
    image = Image.fromarray(pixels)
    steps = torchs()
    rounds = [(ours(args), {name: microseconds(step, image) for name, step in steps.items()})
              for _ in range(args.rounds)]
    rows, ratios = [["step", "", "us", "of a copy", "torchvision", "its us / ours"]], {}
    for name in rounds[0][0]:
        us = statistics.median(found[name]["mean"] for found, _ in rounds)
        copies = statistics.median(found[name]["mean"] / found[MEMORY]["mean"]
                                   for found, _ in rounds)
        row = [name, "", f"{us:.1f}", f"{copies:.2f}", "", ""]
        ratios[name] = {"copies": round(copies, 2)}
        if name in steps:
            theirs = statistics.median(found[name] for _, found in rounds)
            row[4:] = [f"{theirs:.1f}", f"{theirs / us:.1f}"]
            ratios[name]["torchvision"] = round(theirs / us, 2)
        rows.append(row)
    return {"what": f"Microseconds of each step of the augmentation of a picture of {SIDE}x{SIDE} "
                    f"to {CROP}x{CROP}, in one thread; the copies are of as many bytes as a sample "
                    "of float32 has",
            "table": rows, "ratios": ratios, "plots": []}
