#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# torchvision's ImageFolder and a shuffling DataLoader with workers on layout = classes, at
# the one path below data/: labels as from the source tree, each image once in each epoch,
# whatever the images' sizes.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 4 25
job padded view.layout=classes view.path=a/padded job.epochs=2
job exact view.layout=classes view.size=exact view.path=a/exact job.epochs=2
job part view.layout=classes view.path=a/part job.epochs=2 "job.where=class in ('class1', 'class3')"
job mirror view.layout=mirror view.path=a/mirror job.epochs=2
start

"$PYTHON" "$FS/imagefolder.py" "$D" "$M/data/a" padded exact mirror "part class1 class3"
once padded 100
once padded 100 0001
once exact 100 0001
once part 50 0001
nothing_held
