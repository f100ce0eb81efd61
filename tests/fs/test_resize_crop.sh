#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Resize and crop equal torchvision's transforms with PIL to the bit: odd sizes, upscaling, and a
# crop larger than the image.
. "$(dirname "$0")/lib.sh"
dataset 2 8 97x61
job shrunk tensor.resize=37
job grown tensor.resize=150 tensor.crop=131
job padded tensor.resize=32 tensor.crop=50
start

pixels "shrunk 37" "grown 150 131" "padded 32 50"
