#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Symbolic links that lead out of a dataset are not followed, even if they are made after the scan:
# their files fail. Links within the dataset are followed, also absolute ones, and with symlinks =
# follow all links are.
. "$(dirname "$0")/lib.sh"
dataset 3 8
ln -s ../class0/0000.jpg "$D/class2/relative.jpg"
ln -s "$D/class0/0001.jpg" "$D/class2/absolute.jpg"
ln -s "$D" "$T/link" # the path of the dataset itself may be one
job images tensor.crop=32 job.order=sequential
job sources tensor.format=source job.order=sequential

# swap NAME: moves the file or directory out of the dataset, and puts a link in its place
swap() {
	mkdir -p "$T/outside"
	mv "$D/$1" "$T/outside/"
	ln -s "$T/outside/${1##*/}" "$D/$1"
}

back() {
	rm "$D/$1"
	mv "$T/outside/${1##*/}" "$D/$1"
}

# failing JOB: prints the number of files that can't be read
failing() {
	local file n=0
	for file in "$(epoch "$1")"/*[0-9].*; do
		[[ $file == *.cls ]] || cat "$file" >/dev/null 2>&1 || n=$((n + 1))
	done
	echo $n
}

# swapped FAILED ARGUMENT...: starts the daemon, swaps files for links, and checks how many reads
# fail
swapped() {
	rm -rf "$T/state"/*
	: >"$LOG"
	start "${@:2}"
	equal "samples" "$(status_of images samples)" 26
	swap class1
	swap class0/0005.jpg
	for name in images sources; do
		equal "files of $name that failed" "$(failing $name)" "$1"
	done
	stop
	back class1
	back class0/0005.jpg
}

config "images.path=$T/link"
sed -i "/^path = ${D//\//\\/}\$/d" "$T/joaderfs.ini"
swapped 9
grep -q "class1/0003.jpg: a symbolic link leads out of the dataset" "$LOG" || fail "the log does not say why"
swapped 9 --fault load.openat2:EPERM # without it: component by component
config images.symlinks=follow
swapped 0
