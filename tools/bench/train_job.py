#!/usr/bin/python3
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Trains a small convolutional network on Fashion-MNIST. Prints one line of JSON with its accuracy
on the test set.

    imagefolder DIR   torchvision's ImageFolder, shuffle=True
    flat DIR          a job's directory: NNNNNNNN.png and its .cls, in the order of names"""

import argparse
import json
import os
import time

import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision import datasets, transforms

TRANSFORM = transforms.Compose([transforms.Grayscale(), transforms.ToTensor(),
                                transforms.Normalize((0.286,), (0.353,))])


class Flat(Dataset):
    def __init__(self, directory):
        self.files = sorted(os.path.join(directory, n) for n in os.listdir(directory)
                            if n.endswith(".png"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with open(self.files[i][:-3] + "cls", encoding="ascii") as file:
            label = int(file.read())
        with Image.open(self.files[i]) as image:
            return TRANSFORM(image), label


def network():
    return nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(32 * 49, 64), nn.ReLU(), nn.Linear(64, 10))


def accuracy(model, directory):
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in DataLoader(datasets.ImageFolder(directory, TRANSFORM), 500):
            right += int((model(images).argmax(1) == labels).sum())
            total += len(labels)
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("imagefolder", "flat"))
    parser.add_argument("directory")
    parser.add_argument("--test", required=True)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=float, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    plain = args.kind == "imagefolder"
    data = datasets.ImageFolder(args.directory, TRANSFORM) if plain else Flat(args.directory)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    time.sleep(args.start)
    begin = time.monotonic()
    for _ in range(args.epochs):
        for images, labels in DataLoader(data, 64, shuffle=plain):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    seconds = time.monotonic() - begin
    print(json.dumps({"accuracy": accuracy(model, args.test), "seconds": seconds}))


if __name__ == "__main__":
    main()
