# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""imagenet.py DATA [--epochs N] [--workers N]: reads as PyTorch's ImageNet example, which gets one
directory with train/ and val/. Instead of training it prints for each sample: epoch, train or val,
digest of the pixels, target."""

import argparse
import hashlib
import os

import torch
import torchvision.transforms as transforms
from torch.utils.data import DataLoader
from torchvision import datasets


def tell(epoch, part, loader):
    for images, targets in loader:
        for image, target in zip(images, targets):
            print(epoch, part, hashlib.sha1(image.numpy().tobytes()).hexdigest(), int(target))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(1)

    normalize = transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225])
    steps = transforms.Compose([transforms.ToTensor(), normalize])
    train_dataset = datasets.ImageFolder(os.path.join(args.data, "train"), steps)
    val_dataset = datasets.ImageFolder(os.path.join(args.data, "val"), steps)
    train_loader = DataLoader(train_dataset, batch_size=8, shuffle=True,
                              num_workers=args.workers, pin_memory=False, sampler=None)
    val_loader = DataLoader(val_dataset, batch_size=8, shuffle=False,
                            num_workers=args.workers, pin_memory=False, sampler=None)
    for epoch in range(args.epochs):
        tell(epoch, "train", train_loader)
        tell(epoch, "val", val_loader)


main()
