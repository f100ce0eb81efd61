#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Each file that torchvision's ImageFolder lists is prepared with the pixels of PIL. A scan names
# files without a known header, and looks at them again with a later build, which may know them.
. "$(dirname "$0")/lib.sh"
"$PYTHON" - "$D" <<'END'
import os, sys
import numpy
from PIL import Image
rng = numpy.random.default_rng(1)
for ending in "jpg jpeg png ppm bmp pgm tif tiff webp gif".split():
    directory = os.path.join(sys.argv[1], "of_" + ending)
    os.makedirs(directory)
    for i in range(3):
        noise = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=numpy.uint8))
        image = noise.resize((96, 72 + i), Image.Resampling.BILINEAR)
        image.convert("L" if ending == "pgm" else "RGB").save(f"{directory}/{i}.{ending}")
END
job a tensor.resize=48 tensor.crop=32 view.layout=mirror
config images.extensions="jpg jpeg png ppm bmp pgm tif tiff webp gif"
start
! grep 'no readable header' "$LOG" || skip "this build has not all formats"
equal "samples" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 30
find "$M/jobs/a/epoch-0000" -name '*.ppm' -exec cat {} + >/dev/null
equal "errors" "$(status_of a errors)" 0
"$PYTHON" - "$M/jobs/a/epoch-0000" "$D" <<'END'
import os, sys
import numpy
from PIL import Image
n = 0
for top, _, files in os.walk(sys.argv[1]):
    for file in files:
        path = os.path.join(top, file)
        source = os.path.join(sys.argv[2], os.path.relpath(path, sys.argv[1]))
        source = source if os.path.exists(source) else source[:-len(".ppm")]
        image = Image.open(source).convert("RGB")
        scale = 48 / min(image.size)
        size = tuple(48 if s == min(image.size) else int(s * scale) for s in image.size)
        small = image.resize(size, Image.Resampling.BILINEAR)
        x, y = round((size[0] - 32) / 2), round((size[1] - 32) / 2)
        expected = numpy.asarray(small.crop((x, y, x + 32, y + 32)))
        assert (numpy.asarray(Image.open(path)) == expected).all(), path
        n += 1
assert n == 30, n
END
stop

# The catalogue becomes that of a build without WebP: files without a known header are examined
# again.
"$PYTHON" "$FS/catalogue.py" older "$T/state/datasets/images.sqlite" 4
sqlite3 "$T/state/datasets/images.sqlite" \
	"UPDATE about SET readers = 'jpeg png'; UPDATE samples SET width = 0, height = 0 WHERE path LIKE '%.webp'"
start
equal "images without a size" \
	"$("$PYTHON" "$FS/catalogue.py" rows "$T/state/datasets/images.sqlite" | grep -c '|0$')" 0
