# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""beton.py DATASET MODE TARGET: converts a dataset to FFCV's format, for comparison with joaderfs.
MODE jpg keeps the photographs as JPEG; raw stores them prepared and decoded.

A separate process converts, because FFCV takes much memory, which would otherwise count as memory
of the readers."""

import importlib.util
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def there_is_ffcv():
    return all(importlib.util.find_spec(name) for name in ("ffcv", "numba"))


def beton(dataset, mode):
    """Returns the path of the converted file, which is beside the dataset. Makes the file if it is
    missing."""
    target = f"{dataset}-{mode}.beton"
    if not os.path.exists(target):
        subprocess.run([sys.executable, __file__, dataset, mode, target + ".part"], check=True,
                       stderr=subprocess.DEVNULL)
        os.rename(target + ".part", target)
    return target


class Photographs:
    """The images and labels, by index, as FFCV's DatasetWriter needs them."""

    def __init__(self, paths, opened):
        self.paths, self.opened = sorted(paths), opened
        self.classes = sorted({os.path.dirname(path) for path in self.paths})

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, k):
        path = self.paths[k]
        return self.opened(path), self.classes.index(os.path.dirname(path))


def main():
    sys.path[:0] = [HERE, os.path.join(HERE, "..")]
    from ffcv.fields import IntField, RGBImageField
    from ffcv.writer import DatasetWriter
    from PIL import Image

    from cases import prepared
    from mounted import dataset_paths
    dataset, mode, target = sys.argv[1:]
    opened = prepared if mode == "raw" else lambda path: Image.open(path).convert("RGB")
    fields = {"image": RGBImageField(write_mode=mode), "label": IntField()}
    DatasetWriter(target, fields, num_workers=len(os.sched_getaffinity(0))
                  ).from_indexed_dataset(Photographs(dataset_paths(dataset), opened))


if __name__ == "__main__":
    main()
