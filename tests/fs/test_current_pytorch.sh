#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# torchvision's ImageFolder with shuffle=True and a Dataset of files with labels, given one
# path for all epochs: each sample once in each, whether workers stay or are new each time.
. "$(dirname "$0")/lib.sh"
"$PYTHON" -c 'import torch, torchvision' 2>/dev/null ||
	skip "no torch and torchvision for $PYTHON on this system"
dataset 3 16
for kind in imagefolder flat; do
	for workers in 0-new 2-new 2-stay 4-stay; do
		layout=classes
		[[ $kind == imagefolder ]] || layout=flat
		job "$kind-$workers" tensor.crop=32 job.epochs=3 view.layout=$layout
	done
done
start
for kind in imagefolder flat; do
	for workers in 0-new 2-new 2-stay 4-stay; do
		"$PYTHON" "$FS/current.py" $kind "$M/jobs/$kind-$workers/current" 3 \
			"${workers%-*}" "${workers#*-}" >"$T/labels"
		equal "labels of $kind-$workers" "$(tr ' ' '\n' <"$T/labels" | sort | uniq -c | xargs)" \
			"48 0 48 1 48 2"
		for e in 0000 0001 0002; do
			once "$kind-$workers" 48 $e
		done
	done
done
nothing_held
