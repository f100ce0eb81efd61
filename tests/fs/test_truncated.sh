#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# truncated = fill: files of truncated or damaged images have the pixels that Pillow gives with
# LOAD_TRUNCATED_IMAGES. A job without the setting gets EIO for them.
. "$(dirname "$0")/lib.sh"
dataset 1 2
count=$(effort 60 1000)
good=$("$PYTHON" "$FS/truncated.py" "$D/class1" "$count")
job whole tensor.truncated=fill
job part tensor.truncated=fill tensor.resize=40 tensor.crop=32
job again tensor.truncated=fill tensor.resize=40 tensor.crop=32
job fail tensor.resize=40 tensor.crop=32
start

export TRUNCATED=1
pixels whole "part 40 32" "again 40 32"
unset TRUNCATED
failed=0
for file in "$(epoch fail)"/*.ppm; do cat "$file" >/dev/null 2>&1 || failed=$((failed + 1)); done
equal "failed without it" $failed $((count - good))
nothing_held
