# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""The Dataset that a script writes for the layout `flat`."""

import glob
import os

from PIL import Image
from torch.utils.data import Dataset
from torchvision.transforms.functional import pil_to_tensor


class Flat(Dataset):
    def __init__(self, directory):
        self.files = sorted(glob.glob(os.path.join(directory, "*.ppm")))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        image = pil_to_tensor(Image.open(self.files[i]))
        with open(self.files[i].replace(".ppm", ".cls"), encoding="ascii") as file:
            return image, int(file.read())
