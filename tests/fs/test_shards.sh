#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout flat with shard directories: each position is in its directory and in no other one, in the
# order of the names, and each sample comes once.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job a tensor.crop=32 view.shard=7
start

equal "directories" "$(names "$(epoch a)" | xargs)" "000 001 002 003"
equal "files" "$(cd "$(epoch a)" && find . -name '*.ppm' | sort | xargs)" \
	"$(for i in $(seq 0 23); do printf './%03d/%08d.ppm ' $((i / 7)) "$i"; done | sed 's/ $//')"
equal "labels" "$(find "$(epoch a)" -name '*.cls' | wc -l)" 24
equal "links of the epoch's directory" "$(stat -c %h "$(epoch a)")" 6
for name in 000/00000007.ppm 001/00000006.ppm 003/00000024.ppm 004/00000028.ppm 00000000.ppm \
	0/00000000.ppm 0000/00000000.ppm 003.ppm; do
	[[ ! -e $(epoch a)/$name ]] || fail "there is a $name"
done
equal "bindings" "$(order a)" ""
for file in "$(epoch a)"/*/*.ppm; do
	cat "$file" >/dev/null
	number=$(basename "$file" .ppm)
	label=$(cat "${file%.ppm}.cls")
	equal "label of $number" "$(order a | tail -n 1 | cut -f1,3 | xargs)" "$((10#$number)) $label"
done
once a 24
nothing_held
