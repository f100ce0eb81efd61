#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""A usual training script, which reads images, and for each image a file with its label.

    train.py DIRECTORY [--epochs N] [--workers N]

DIRECTORY contains 00000000.ppm, 00000000.cls and so on, and its parent has a file classes.txt.
DIRECTORY may be on a disk, or be <mount>/jobs/<job>/current of joaderfs, which has a new random
order in each epoch. The script works with both.
"""

import argparse
import glob
import os

import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms


class Samples(Dataset):
    def __init__(self, directory):
        self.files = sorted(glob.glob(os.path.join(directory, "*.ppm")))
        self.transform = transforms.ToTensor()

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with open(self.files[i].replace(".ppm", ".cls")) as f:
            label = int(f.read())
        return self.transform(Image.open(self.files[i])), label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()

    torch.manual_seed(0)
    with open(os.path.join(args.directory, "../classes.txt")) as f:
        n_classes = len(f.read().splitlines())
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 5, stride=4), torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(4), torch.nn.Flatten(),
        torch.nn.Linear(8 * 16, n_classes))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    loader = DataLoader(Samples(args.directory), 32, num_workers=args.workers,
                        persistent_workers=args.workers > 0)

    for epoch in range(args.epochs):
        seen, loss_sum = 0, 0.0
        for images, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seen += len(labels)
            loss_sum += loss.item() * len(labels)
        print(f"epoch {epoch}: {seen} samples, loss {loss_sum / seen:.3f}")


if __name__ == "__main__":
    main()
