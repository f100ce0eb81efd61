#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# current/ for scripts that know one directory: epoch after epoch, each label belongs to its image,
# also while others open files, and after a restart.
. "$(dirname "$0")/lib.sh"
dataset 3 16
job a tensor.crop=32 job.epochs=4
start

C=$M/jobs/a/current

# read_current EPOCH FROM TO: reads an image, its label, and the image again, as OpenCV does. The
# shell itself opens the files, so that it is one reader, as a script is, and not one for each
# file.
read_current() {
	local i number
	for ((i = $2; i < $3; i++)); do
		number=$(printf %08d "$i")
		{ cat >"$T/image"; } <"$C/$number.ppm"
		{ cat >"$T/label"; } <"$C/$number.cls"
		{ cmp "$T/image"; } <"$C/$number.ppm"
		cmp "$T/image" "$(epoch a "$1")/$number.ppm"
		cmp "$T/label" "$(epoch a "$1")/$number.cls"
	done
}

find "$C" -type f -exec stat {} + >/dev/null
equal "epoch after stat" "$(order a 2>/dev/null)" ""
read_current 0000 0 10 # a short pass, as a check before the training
read_current 0000 0 48
once a 48
read_current 0001 0 30
cat "$C/00000007.ppm" >/dev/null # somebody looks
read_current 0001 30 48
once a 48 0001
read_current 0002 0 12
stop
start
read_current 0002 0 48
once a 48 0002
read_current 0003 0 48
once a 48 0003
read_current 0003 0 48 # there is no later epoch, so this one is read again
equal "bindings" "$(order a 0003 | wc -l)" 48
nothing_held
