# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""augmented.py JOBS_DIR DATASET "JOB KEY=VALUE..." ...: compares every file of these jobs, to the
bit, with the result of torchvision's transforms on the source file in the order, with the random
numbers that joaderfs draws for (seed, epoch, position). KEY: epochs, resize, seed, hflip, filter,
random_crop, random_resized_crop (N), normalize (1: ImageNet's), dtype, axes, mode (L: gray, keep:
the file's)."""

import math
import os
import sys

import numpy
import torch
import torchvision.transforms.functional as F
from PIL import Image

MASK = (1 << 64) - 1
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def splitmix(state):
    state = (state + 0x9E3779B97F4A7C15) & MASK
    z = state
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return state, z ^ (z >> 31)


class Random:
    """xoshiro256**, seeded with the mix of the job's seed, the epoch and the position"""

    def __init__(self, seed, epoch, position):
        _, state = splitmix(splitmix(seed)[1] ^ (epoch << 32 | position))
        self.s = []
        for _ in range(4):
            state, z = splitmix(state)
            self.s.append(z)

    def next(self):
        s = self.s
        x = s[1] * 5 & MASK
        result = ((x << 7 | x >> 57) & MASK) * 9 & MASK
        t = s[1] << 17 & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = (s[3] << 45 | s[3] >> 19) & MASK
        return result

    def below(self, bound):  # bounds are so small that no number is drawn again
        return self.next() * bound >> 64

    def fraction(self):
        return (self.next() >> 11) * 2.0**-53

    def between(self, low, high):
        return low + self.fraction() * (high - low)


def resized_crop(random, width, height):
    """RandomResizedCrop.get_params"""
    for _ in range(10):
        area = width * height * random.between(0.08, 1.0)
        ratio = math.exp(random.between(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            top = random.below(height - h + 1)
            return top, random.below(width - w + 1), h, w
    ratio = width / height
    w = round(height * (4 / 3)) if ratio > 4 / 3 else width
    h = round(width / (3 / 4)) if ratio < 3 / 4 else height
    return (height - h) // 2, (width - w) // 2, h, w


def used_filter(want):
    return F.InterpolationMode(want.get("filter", "bilinear"))


def expected(image, random, want):
    if "random_crop" in want:
        size = int(want["random_crop"])
        top = random.below(image.height - size + 1)
        image = F.crop(image, top, random.below(image.width - size + 1), size, size)
    if "random_resized_crop" in want:
        size = int(want["random_resized_crop"])
        image = F.resized_crop(image, *resized_crop(random, *image.size), [size, size],
                               used_filter(want))
    if random.fraction() < float(want.get("hflip", 0)):
        image = F.hflip(image)
    if want.get("dtype", "uint8") == "uint8":
        array = numpy.asarray(image).reshape(image.height, image.width, -1).transpose(2, 0, 1)
        if image.mode == "I":
            array = array.clip(0, 65535).astype(numpy.uint16)
    else:
        tensor = F.to_tensor(image)
        if "normalize" in want:
            tensor = F.normalize(tensor, MEAN[:len(tensor)], STD[:len(tensor)])
        array = tensor.to(getattr(torch, want["dtype"])).numpy()
    return array if want.get("axes") == "CHW" else array.transpose(1, 2, 0)


def load(path):
    if path.endswith(".npy"):
        return numpy.load(path)
    image = Image.open(path)
    return numpy.asarray(image).reshape(image.height, image.width, -1)


def differing(job, dataset, want):
    """Returns the number of wrong files of the job's epochs, and of all files."""
    compared = wrong = 0
    for epoch in range(int(want["epochs"])):
        directory = os.path.join(job, f"epoch-{epoch:04}")
        names = sorted(n for n in os.listdir(directory) if not n.endswith(".cls"))
        found = [load(os.path.join(directory, name)) for name in names]
        with open(directory + ".order", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
        assert len(rows) == len(names) > 0, (len(rows), len(names))
        for position, _, _, _, path in rows:
            image = Image.open(os.path.join(dataset, path))
            if want.get("mode") != "keep":
                image = image.convert(want.get("mode", "RGB"))
            image = F.resize(image, int(want["resize"]), used_filter(want))
            random = Random(int(want["seed"]), epoch, int(position))
            array, file = expected(image, random, want), found[int(position)]
            compared += 1
            wrong += file.dtype != array.dtype or not numpy.array_equal(file, array)
    return wrong, compared


def main():
    jobs, dataset = sys.argv[1:3]
    failed = False
    for argument in sys.argv[3:]:
        name, *options = argument.split()
        want = dict(option.split("=") for option in options)
        wrong, compared = differing(os.path.join(jobs, name), dataset, want)
        print(f"{argument}: {wrong} of {compared} files differ")
        failed |= wrong > 0
    sys.exit(failed)


if __name__ == "__main__":
    main()
