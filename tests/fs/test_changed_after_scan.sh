#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Of files that were deleted or replaced after the scan, only these fail. No reader gets a wrong
# image.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job a tensor.crop=32
start
rm "$D/class0/0001.jpg"
cp "$D/class2/0003.jpg" "$D/class1/0002.jpg"
touch -d 2001-01-01 "$D/class1/0002.jpg"

failures=0
for file in "$(epoch a)"/*.ppm; do
	cat "$file" >/dev/null 2>&1 || failures=$((failures + 1))
done
equal "files that failed" $failures 2
once a 24
equal "errors" "$(status_of a errors)" 2
grep -q class0/0001.jpg "$LOG"
grep -q class1/0002.jpg "$LOG"
nothing_held
