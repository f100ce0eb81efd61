# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""first_example.py DATASET VIEW...: prints, for each view, the mean difference over all images
between the views and the dataset, as a script with torchvision's Resize(256) and CenterCrop(224)
sees them."""

import sys

import numpy
from torchvision import transforms
from torchvision.datasets import ImageFolder

steps = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224)])
dataset, *views = (ImageFolder(path, transform=steps) for path in sys.argv[1:])
for view in views:
    assert view.class_to_idx == dataset.class_to_idx and len(view) == len(dataset) > 0
    print("%.3f" % numpy.mean([numpy.abs(numpy.int16(a) - numpy.int16(b)).mean()
                               for (a, _), (b, _) in zip(view, dataset)]))
