# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""dataloader.py CASE DIRECTORY EPOCHS [BATCHES]: what training programs do with one directory
and torch's DataLoader. Prints for each sample: epoch, digest of the pixels, label.

CASE, words joined by -:
    folder, flat      torchvision's ImageFolder with shuffle=True, or files in their order
    new, stay         workers of each epoch, or persistent ones
    repeat            timm's MultiEpochsDataLoader: workers fetch beyond the end of an epoch
    drop              drop_last
    sanity            a pass over two batches before the training, as Lightning makes one
    stop, late        nothing else; with BATCHES it is killed after so many of the last epoch"""

import hashlib
import os
import signal
import sys

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms.functional import pil_to_tensor

sys.dont_write_bytecode = True  # nothing beside the sources

from flat_dataset import Flat  # noqa: E402

NEAR = 4  # batches that the workers may have at a time


class Repeating:
    """A batch sampler that never ends. What is late in an epoch is not early in the next:
    if one worker opened it for the next epoch before another one did for this, nobody could
    tell them apart."""

    def __init__(self, sampler):
        self.sampler = sampler

    def __iter__(self):
        late = set()
        while True:
            batches = list(self.sampler)
            if late.isdisjoint(i for batch in batches[:NEAR] for i in batch):
                yield from batches
                late = {i for batch in batches[-NEAR:] for i in batch}


class MultiEpochs(DataLoader):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self._DataLoader__initialized = False
        self.length = len(self.batch_sampler)
        self.batch_sampler = Repeating(self.batch_sampler)
        self._DataLoader__initialized = True
        self.iterator = super().__iter__()

    def __iter__(self):
        for _ in range(self.length):
            yield next(self.iterator)


def main():
    case, directory, epochs = sys.argv[1].split("-"), sys.argv[2], int(sys.argv[3])
    stop = int(sys.argv[4]) if len(sys.argv) > 4 else None
    torch.manual_seed(1 if stop else 2)
    data = ImageFolder(directory, pil_to_tensor) if "folder" in case else Flat(directory)
    if "sanity" in case:
        for _, _ in zip(range(2), DataLoader(data, batch_size=8, num_workers=2)):
            pass
    loader = (MultiEpochs if "repeat" in case else DataLoader)(
        data, batch_size=7, num_workers=2, shuffle="folder" in case, drop_last="drop" in case,
        persistent_workers="stay" in case, prefetch_factor=2)
    for epoch in range(epochs):
        for number, (images, labels) in enumerate(loader):
            if epoch == epochs - 1 and number == stop:
                sys.stdout.flush()
                os.killpg(0, signal.SIGKILL)
            for image, label in zip(images, labels):
                print(epoch, hashlib.sha1(image.numpy().tobytes()).hexdigest(), int(label))


main()
