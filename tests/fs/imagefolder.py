# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""imagefolder.py DATASET VIEWS "VIEW [CLASS...]"...: reads two epochs of each directory of VIEWS
by torchvision's ImageFolder and a shuffling DataLoader, whose workers stay from one epoch to the
next. Classes and labels must equal those of ImageFolder on the dataset (reduced to the given
classes), and each image must come once in an epoch, with its label."""

import collections
import os
import sys

import torch
import torchvision


def only(classes):
    class Only(torchvision.datasets.ImageFolder):
        def find_classes(self, directory):
            return classes, {name: i for i, name in enumerate(classes)}
    return Only


def content(image):
    return torchvision.transforms.functional.to_tensor(image).numpy().tobytes()


def check(view, dataset, classes):
    kind = only(classes) if classes else torchvision.datasets.ImageFolder
    source = kind(dataset, transform=content)
    expected = collections.Counter(source[i] for i in range(len(source)))
    folder = torchvision.datasets.ImageFolder(view, transform=content)
    assert folder.class_to_idx == source.class_to_idx, folder.class_to_idx
    assert len(folder) == len(source), len(folder)
    torch.manual_seed(1)
    loader = torch.utils.data.DataLoader(folder, batch_size=5, shuffle=True, num_workers=2,
                                         persistent_workers=True, collate_fn=list)
    for epoch in range(2):
        found = collections.Counter(sample for batch in loader for sample in batch)
        assert found == expected, f"{view}, epoch {epoch}: not each image once with its label"
    assert os.path.isdir(view)


def main():
    dataset, views = sys.argv[1:3]
    for words in sys.argv[3:]:
        view, *classes = words.split()
        check(os.path.join(views, view), dataset, classes)


main()
