#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A truncated JPEG, a text named .jpg and an empty file: only these files answer EIO, and the rest
# of the epoch is read as usual. The setting that the log recommends leaves them out.
. "$(dirname "$0")/lib.sh"
dataset 3 8
truncate -s 900 "$D/class0/0002.jpg"
echo "no image" >"$D/class1/0003.jpg"
mv "$D/class2/0004.jpg" "$D/class2/it's.jpg"
: >"$D/class2/it's.jpg"
job a tensor.resize=48 tensor.crop=32
job b tensor.resize=48 tensor.crop=32
start

for name in a b; do
	failures=0
	for file in "$(epoch $name)"/*.ppm; do
		cat "$file" >/dev/null 2>"$T/message" && continue
		grep -q 'Input/output error' "$T/message" || fail "$(cat "$T/message")"
		failures=$((failures + 1))
	done
	equal "files that failed" $failures 3
	once $name 24
	equal "errors of $name" "$(status_of $name errors)" 3
done
for path in class0/0002.jpg class1/0003.jpg "class2/it's.jpg"; do
	grep -q "$path" "$LOG" || fail "the log does not name $path"
done
nothing_held

where=$(sed -n 's/.*; where = \(.*\) in \[job\] leaves it out$/\1/p' "$LOG" | sed '2,$s/^/and /' | xargs -d '\n')
job_text c tensor.crop=32 "job.where=$where" >"$T/c.ini"
ctl add "$T/c.ini"
read_epoch c
once c 21
