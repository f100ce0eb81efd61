#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# size = exact with images of many sizes: st_size is 0 until the position is bound, then the size of
# its sample; in current/ the size of the sample that the position has now.
. "$(dirname "$0")/lib.sh"
"$PYTHON" - "$D" <<'PY'
import os, sys
from PIL import Image
for i in range(12):
    os.makedirs(f"{sys.argv[1]}/class{i % 2}", exist_ok=True)
    Image.new("RGB", (20 + i, 30)).save(f"{sys.argv[1]}/class{i % 2}/{i:02d}.png")
PY
job flat view.size=exact job.epochs=3
job classes view.size=exact view.layout=classes view.mapping=fresh job.epochs=3
start

for job in flat classes; do
	for epoch in epoch-0000 epoch-0001 current; do
		files=$(find "$M/jobs/$job/$epoch" -name '*.ppm')
		for file in $files; do
			[[ $epoch == current ]] || equal "size of $file" "$(stat -c %s "$file")" 0
			bytes=$(wc -c < <(cat "$file"))
			((bytes > 20 * 30 * 3)) || fail "$file has $bytes bytes"
			equal "size of $file" "$(stat -c %s "$file")" "$bytes"
		done
	done
	once "$job" 12 0002
	number=0
	for file in $(find "$M/jobs/$job/current" -name '*.ppm' | sort); do
		sample=$(order "$job" 0002 | sed -n "s/^$number\t\([0-9]*\)\t.*/\1/p")
		width=$((20 + 2 * (sample % 6) + sample / 6))
		equal "size of $file" "$(stat -c %s "$file")" $((width * 30 * 3 + 13))
		number=$((number + 1))
	done
done
nothing_held
