# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""dataloader.py: trainings with one directory and torch's DataLoader. Reads lines CASE EPOCHS
BATCHES FILE DIRECTORY. Each line is a training in its own process, whose exit status is printed
when it has ended. For each sample it writes to FILE: epoch, digest of the pixels, label.

CASE, words joined by -:
folder, flat torchvision's ImageFolder with shuffle=True, or files in their order
shuffle flat with shuffle=True
new, stay workers of each epoch, or persistent ones
0, 4 number of workers; otherwise two
repeat timm's MultiEpochsDataLoader: workers fetch beyond the end of an epoch
drop drop_last
sanity a pass over two batches before the training, as with Lightning
one, stop, late no effect
BATCHES: the training is killed after this many batches of the last epoch; 0: not killed"""

import hashlib
import os
import signal
import sys

import torch
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms.functional import pil_to_tensor

sys.dont_write_bytecode = True  # no files beside the sources

from flat_dataset import Flat  # noqa: E402

NEAR = 4  # batches that the workers may fetch at a time


class Repeating:
    """A batch sampler that never ends. Files at the end of an epoch do not come at the begin of
    the next one: if one worker opened such a file for the next epoch before another worker opened
    it for this one, the two could not be distinguished."""

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


def train(case, directory, epochs, stop, out):
    torch.manual_seed(1 if stop else 2)
    data = ImageFolder(directory, pil_to_tensor) if "folder" in case else Flat(directory)
    if "sanity" in case:
        for _, _ in zip(range(2), DataLoader(data, batch_size=8, num_workers=2)):
            pass
    workers = next((int(word) for word in case if word.isdigit()), 2)
    loader = (MultiEpochs if "repeat" in case else DataLoader)(
        data, batch_size=7, num_workers=workers, shuffle="folder" in case or "shuffle" in case,
        drop_last="drop" in case, persistent_workers="stay" in case,
        **({"prefetch_factor": 2} if workers else {}))
    for epoch in range(epochs):
        for number, (images, labels) in enumerate(loader):
            if stop and epoch == epochs - 1 and number == stop:
                out.flush()
                os.killpg(0, signal.SIGKILL)
            for image, label in zip(images, labels):
                print(epoch, hashlib.sha1(image.numpy().tobytes()).hexdigest(), int(label),
                      file=out)


def main():
    for line in sys.stdin:
        case, epochs, stop, path, directory = line.rstrip("\n").split(" ", 4)
        child = os.fork()
        if child == 0:
            os.setsid()
            with open(path, "w", encoding="ascii") as out:
                train(case.split("-"), directory, int(epochs), int(stop), out)
            return
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(code if code >= 0 else 128 - code, flush=True)


main()
