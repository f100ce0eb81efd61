#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The .cls beside a sample is the index of its class in classes.txt, whichever is read
# first; a label file binds its position and consumes nothing.
. "$(dirname "$0")/lib.sh"
dataset 3 4
job a tensor.crop=32
start

equal "classes" "$(xargs <"$M/jobs/a/classes.txt")" "class0 class1 class2"
equal "classes of the dataset" "$(xargs <"$M/datasets/images/classes.txt")" "class0 class1 class2"
cat "$(epoch a)"/*.cls >/dev/null
once a 12
equal "consumed by labels" "$(status_of a consumed)" 0
read_epoch a
equal "consumed" "$(status_of a consumed)" 12
while IFS=$'\t' read -r position _ label _ path; do
	equal "label of $path" "$(cat "$(epoch a)/$(printf %08d "$position").cls")" "$label"
	equal "class of $path" "class$label" "$(basename "$(dirname "$path")")"
done < <(order a)
