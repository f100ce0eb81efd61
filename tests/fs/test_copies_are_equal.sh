#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# cp, tar and md5sum read the same bytes each time.
. "$(dirname "$0")/lib.sh"
dataset
job fixed tensor.crop=32
job padded tensor.format=bmp
start

for name in fixed padded; do
	cp -r "$(epoch $name)" "$T/$name"
	diff -r "$(epoch $name)" "$T/$name"
	(cd "$(epoch $name)" && md5sum -- *) >"$T/sums"
	(cd "$(epoch $name)" && md5sum --quiet -c "$T/sums")
	mkdir "$T/$name.tar"
	tar -C "$(epoch $name)" -cf - . | tar -C "$T/$name.tar" -xf -
	diff -r "$T/$name" "$T/$name.tar"
	equal "files of $name" "$(find "$T/$name.tar" -type f | wc -l)" 48
	once $name 24
done
