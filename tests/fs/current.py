# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Reads a directory for so many epochs, as scripts do that know one path only.

usage: current.py imagefolder|flat DIRECTORY EPOCHS WORKERS new|stay
"""
import sys

from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms.functional import pil_to_tensor

sys.dont_write_bytecode = True  # nothing beside the sources

from flat_dataset import Flat  # noqa: E402


def main():
    kind, directory, epochs, workers, stay = sys.argv[1:]
    if kind == "imagefolder":
        data = ImageFolder(directory, transform=pil_to_tensor)
    else:
        data = Flat(directory)
    loader = DataLoader(data, batch_size=4, num_workers=int(workers),
                        shuffle=kind == "imagefolder",
                        persistent_workers=stay == "stay" and int(workers) > 0)
    for _ in range(int(epochs)):
        for images, labels in loader:
            print(*(f"{label}" for label in labels.tolist()))
            assert len(images) == len(labels)


main()
