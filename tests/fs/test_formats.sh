#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Every format holds the pixels that PIL decodes, read with PIL, OpenCV and numpy. Resize and crop
# equal torchvision's transforms with PIL to the bit: odd sizes, upscaling, and a crop larger than
# the image.
. "$(dirname "$0")/lib.sh"
dataset 2 8 97x61
for format in ppm bmp png npy raw source; do
	case $format in
	source) job $format tensor.format=$format ;;
	*) job $format tensor.format=$format tensor.resize=48 tensor.crop=40 ;;
	esac
done
job whole tensor.format=png
job exact tensor.format=ppm view.size=exact
job renamed tensor.crop=40 view.extension=jpeg
job shrunk tensor.resize=37
job grown tensor.resize=150 tensor.crop=131
job padded tensor.resize=32 tensor.crop=50
start

pixels source "ppm 48 40" "bmp 48 40" "png 48 40" "npy 48 40" "raw 48 40" whole exact \
	"renamed 0 40" "shrunk 37" "grown 150 131" "padded 32 50"
