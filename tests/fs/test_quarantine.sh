#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# An image whose preparation ends the engine twice is not prepared any more: readers get EIO
# for it, and for nothing else; the log and datasets/<dataset>/bad name it. It is so in the
# daemon's next life, too, until the file changes.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
ulimit -c 0
dataset 2 8
job a tensor.crop=32 job.epochs=9
start --fault load.image.0003.jpg:BUG

# refused_in EPOCH: the sources of the positions that answer EIO
refused_in() {
	local file position
	for file in "$(epoch a "$1")"/*.ppm; do
		timeout 30 cat "$file" >/dev/null 2>"$T/message" && continue
		grep -q "Input/output error" "$T/message" || fail "$(cat "$T/message")"
		position=$((10#$(basename "$file" .ppm)))
		order a "$1" | awk -F'\t' -v position=$position '$1 == position {print $5}'
	done | sort
}
both=$'class0/0003.jpg\nclass1/0003.jpg'
equal "refused" "$(refused_in 0000)" "$both"
once a 16
equal "bad" "$(cat "$M/datasets/images/bad")" "$both"
for class in class0 class1; do
	equal "lines of the log about $class" \
		"$(grep -c "error:.*$class/0003.jpg: its preparation has ended the engine twice" "$LOG")" 1
done
equal "engines" "$(grep -c "this is another one" "$LOG")" 4
stop

start
equal "refused in the next life" "$(refused_in 0001)" "$both"
stop
touch "$D/class0/0003.jpg"
start
equal "bad, when one has changed" "$(cat "$M/datasets/images/bad")" "class1/0003.jpg"
cat "$M"/jobs/a/epoch-0000/00000000.ppm >/dev/null
stop
