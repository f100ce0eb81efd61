#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A script that is given one directory with train/ and val/, as PyTorch's ImageNet example, on
# data/resnet18: each epoch equals a tree of prepared files; the training set comes in another order
# each time, the validation set always in the same.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 3 20
job train tensor.resize=40 tensor.crop=32 view.layout=classes view.mapping=fresh view.path=resnet18/train \
	job.epochs=3
job val tensor.resize=40 tensor.crop=32 view.layout=classes view.path=resnet18/val \
	"job.where=id % 5 = 0" job.order=sequential job.epochs=3
job files tensor.resize=40 tensor.crop=32 view.layout=mirror
job valfiles tensor.resize=40 tensor.crop=32 view.layout=mirror "job.where=id % 5 = 0"
start

mkdir "$T/tree"
cp -r "$(epoch files)" "$T/tree/train"
cp -r "$(epoch valfiles)" "$T/tree/val"
"$PYTHON" "$FS/imagenet.py" "$T/tree" >"$T/expected"
"$PYTHON" "$FS/imagenet.py" "$M/data/resnet18" >"$T/found"

equal "samples" "$(wc -l <"$T/expected")" $((3 * (60 + 12)))
for epoch in 0 1 2; do
	grep "^$epoch train" "$T/found" | sort | cmp - <(grep "^$epoch train" "$T/expected" | sort)
	grep "^$epoch val" "$T/found" | cmp - <(grep "^$epoch val" "$T/expected")
	once train 60 000$epoch
done
equal "different orders" "$(for epoch in 0 1 2; do order train 000$epoch | cut -f1,2 | sort -n | md5sum; done | sort -u | wc -l)" 3
nothing_held
