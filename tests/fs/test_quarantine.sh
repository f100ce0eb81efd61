#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# An image whose preparation kills the engine twice is not prepared any more: its readers get EIO,
# and no others; the log and datasets/<dataset>/bad name it. This outlasts a restart, until the file
# changes. A kill from outside, such as the kernel's when memory runs out, blames no image; the log
# reports it.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
ulimit -c 0
dataset 2 8
job a tensor.crop=32 job.epochs=9
job m tensor.crop=32 view.layout=mirror
start --fault load.image.0003.jpg:BUG

# refused_in EPOCH: prints the sources of the positions that answer EIO
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
		"$(grep -c "error:.*$class/0003.jpg: preparing it ended the engine twice" "$LOG")" 1
done
equal "engines" "$(grep -c "a new engine takes over" "$LOG")" 4
stop

start
equal "refused in the next life" "$(refused_in 0001)" "$both"
stop
touch "$D/class0/0003.jpg"
start
equal "bad, when one has changed" "$(cat "$M/datasets/images/bad")" "class1/0003.jpg"
cat "$M"/jobs/a/epoch-0000/00000000.ppm >/dev/null
stop

# killed_over SAMPLE: kills the engine while the sample is prepared, ten times; succeeds if the
# sample is refused then
killed_over() {
	local file reader _
	file=$(epoch m)/$1.ppm
	rm -f "$T/go"
	timeout 60 cat "$file" >/dev/null 2>"$T/message" &
	reader=$!
	for _ in $(seq 10); do
		! grep -q "$1: preparing it ended the engine twice" "$LOG" || break
		kill_engine
	done
	touch "$T/go"
	! wait $reader
}
start --fault "load.image.0005.jpg:NONE:until=$T/go"
! killed_over class0/0005.jpg || fail "an image is to blame for a kill: $(cat "$T/message")"
stop
start --fault "load.image.0005.jpg:NONE:until=$T/go" --fault death.memory:ENOMEM
! killed_over class0/0005.jpg || fail "an image is to blame for a lack of memory: $(cat "$T/message")"
grep -q "the engine was killed because memory ran out (.* has .*): set a smaller cache" "$LOG" ||
	fail "the log does not say why"
equal "bad, after kills for want of memory" "$(cat "$M/datasets/images/bad")" class1/0003.jpg
cat "$(epoch m)/class1/0005.jpg.ppm" >/dev/null
