#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# torchvision's ImageFolder with shuffle=True, and a Dataset of files with labels, use one path for
# all epochs: each epoch has each sample once, with persistent workers and with new ones.
. "$(dirname "$0")/lib.sh"
. "$FS/trainer.sh"
dataset 3 16
cases=({folder,flat}-{0-new,2-new,2-stay,4-stay})
for case in "${cases[@]}"; do
	layout=classes
	[[ $case == folder-* ]] || layout=flat
	job "$case" tensor.crop=32 job.epochs=3 view.layout=$layout
done
start
for case in "${cases[@]}"; do
	train "$case" "$M/jobs/$case/current" 3
	equal "labels of $case" "$(cut -d' ' -f3 "$T/given" | sort | uniq -c | xargs)" \
		"48 0 48 1 48 2"
	for e in 0000 0001 0002; do
		once "$case" 48 $e
	done
done
nothing_held
