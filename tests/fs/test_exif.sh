#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# exif = apply gives the size and the pixels of PIL's exif_transpose, also in a job that crops. A
# job that ignores the orientation shares no tensors with such jobs.
. "$(dirname "$0")/lib.sh"
dataset 2 16
"$PYTHON" - "$D" <<'END'
import glob, sys
from PIL import Image

for i, path in enumerate(sorted(glob.glob(sys.argv[1] + "/*/*.jpg"))):
    exif = Image.Exif()
    exif[0x112] = i % 9
    Image.open(path).save(path, quality=90, exif=exif)
END
# PNGs with the orientation in eXIf, in texts of each kind, in XMP, in several of these, or
# damaged.
"$PYTHON" "$FS/orientations.py" "$D/class2" "$(effort 48 1000)"
job whole tensor.exif=apply
job cropped tensor.exif=apply tensor.resize=40 tensor.crop=32
job again tensor.exif=apply tensor.resize=40 tensor.crop=32
job ignoring tensor.resize=40 tensor.crop=32
start

for file in "$(epoch whole)"/*.ppm; do
	before=$(stat -c %s "$file")
	equal "bytes of $file" "$(wc -c <"$file")" "$before"
done
export EXIF=apply
pixels whole "cropped 40 32" "again 40 32"
EXIF=ignore
pixels "ignoring 40 32"
equal "prepared" "$(counter decodes)" $((3 * $(find "$D" -type f | wc -l)))
