#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A class without images is warned of and keeps its label, as in torchvision's count.
. "$(dirname "$0")/lib.sh"
dataset 3 4
mkdir "$D/class1b"
job a tensor.crop=32
start
grep -q class1b "$LOG" || fail "no warning names class1b"
equal "classes" "$(xargs <"$M/datasets/images/classes.txt")" "class0 class1 class1b class2"
read_epoch a
equal "labels" "$(order a | cut -f3 | sort -u | xargs)" "0 1 3"
