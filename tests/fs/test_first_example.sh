#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The first job of README.md, and the examples in config for scripts: a script whose own transforms
# resize and crop gets the same pixels as without joaderfs.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 2 3 400x300
tensor_of() { # FILE: key=value of its first [tensor] section, as options
	sed -n '/^ *\[tensor\]/,/^ *\[[av]/s/^ *\([a-z]*\) = \([^ ;]*\).*/tensor.\1=\2/p' "$1" | head -n "$2"
}
keys=2
mapfile -t readme < <(sed -n '/^## A session/,/^## What/p' "$ROOT/README.md" | tensor_of /dev/stdin $keys)
job readme "${readme[@]}" view.layout=classes job.order=sequential
for example in imagefolder fold resnet18; do
	mapfile -t tensor < <(tensor_of "$ROOT/config/$example.ini" $keys)
	job "$example" "${tensor[@]}" view.layout=classes job.order=sequential
done
job cropped tensor.resize=256 tensor.crop=224 view.layout=classes job.order=sequential
start
names=(readme imagefolder fold resnet18 cropped)
views=("${names[@]/#/$M/jobs/}")
views=("${views[@]/%//current}")
"$PYTHON" "$FS/first_example.py" "$D" "${views[@]}" >"$T/differences"
mapfile -t differences <"$T/differences"
for i in 0 1 2 3; do
	equal "mean difference of ${names[i]}" "${differences[i]}" 0.000
done
# The probe sees what a second crop does.
[[ ${differences[4]} != 0.000 ]] || fail "a second crop is not seen"
