# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Reads a directory for so many epochs, as scripts do that know one path only.

usage: current.py imagefolder|flat DIRECTORY EPOCHS WORKERS new|stay
"""
import glob
import os
import sys

from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision.datasets import ImageFolder
from torchvision.transforms.functional import pil_to_tensor


class Flat(Dataset):
    def __init__(self, directory):
        self.files = sorted(glob.glob(os.path.join(directory, "*.ppm")))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = pil_to_tensor(Image.open(self.files[i]))
        with open(self.files[i].replace(".ppm", ".cls")) as file:
            return image, int(file.read())


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
