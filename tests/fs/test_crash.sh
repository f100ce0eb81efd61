#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A daemon in the background that has a bug logs the bug, its place, the held locks, the jobs and
# the counters, also with a lock held. A fatal signal logs the place where it arrived.
. "$(dirname "$0")/lib.sh"
ulimit -c 0
dataset 2 8
job a tensor.crop=32
config
L=$T/state/joaderfs.log

start_background() {
	rm -f "$L"
	"$PROGRAM" --no-supervisor "$@" "$T/joaderfs.ini" "$M" 2>>"$LOG" >&2 || fail "it ended with $?"
	daemon=$(pgrep -nf "^$PROGRAM .*$T/joaderfs.ini")
}

ended() {
	flock -w 60 "$T/state/lock" true || fail "it has not ended"
	unmount "$M"
}

# said TEXT...: checks that the log matches these extended regular expressions
said() {
	local text
	for text; do
		grep -qE -- "$text" "$L" || fail "'$text' is not in the log: $(<"$L")"
	done
}

for signal in SEGV BUS ABRT; do
	start_background
	cat "$(epoch a)/00000000.ppm" >/dev/null
	kill -$signal "$daemon"
	ended
	# A sanitizer has its own handlers.
	if [[ $BUILD != *san || $signal == ABRT ]]; then
		said "crash: signal $(kill -l $signal) " '^backtrace of thread' \
			'^.*joaderfs\(.*\) ?\[0x' '^locks held: none'
	fi
done

# The bug occurs under the scheduler's lock, when the cache allocates after the pieces of a space.
start_background --fault cache.memory:BUG:after=5
timeout 60 cat "$(epoch a)"/*.ppm >/dev/null 2>&1 || true
ended
said '^20[0-9-]*T[0-9:]*Z error: bug: src/.*\.c:[0-9]*: .* does not hold$' \
	'^backtrace of thread' '^.*joaderfs\(.*\) ?\[0x' '^locks held:.* sched' \
	'^job a: dataset images, running, epoch 0, .* of 16 samples' \
	'^requests [1-9]' '^jobs 1$'

# The bug occurs in a worker, without a lock. There is one decoder, because another one might be in
# the middle of a decode.
config joaderfs.workers=1
start_background --fault load.decode:BUG:after=3
timeout 60 cat "$(epoch a)"/*.ppm >/dev/null 2>&1 || true
ended
said 'error: bug: ' '^locks held: none' '^job a: ' '^decodes 3$'
