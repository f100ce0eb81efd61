# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Prepares images with Pillow: shape = 64 64 3, dtype = uint8.

Images are padded to squares with grey, their contrast is stretched, and they are sharpened. Jobs
may augment them like other images.
"""

import io

import numpy
from PIL import Image, ImageFilter, ImageOps

SIZE = (64, 64)


def prepare(data, name):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    image = ImageOps.pad(image, SIZE, Image.Resampling.LANCZOS, color=(128, 128, 128))
    image = ImageOps.autocontrast(image).filter(ImageFilter.SHARPEN)
    return numpy.asarray(image)
