#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The daemon is killed again and again while jobs read, and stopped. A position that was read keeps
# its sample, and over all lives of the daemon each sample comes once.
. "$(dirname "$0")/lib.sh"
alone
LIVES=${LIVES:-4}
dataset 4 60 64x48
job a tensor.crop=32
job b tensor.crop=32 view.layout=classes
config joaderfs.seed=0

# read_all SEED: starts readers of all files, in a random order
read_all() {
	local job directory
	readers=()
	for job in a b; do
		for directory in $(find "$(epoch $job)" -name '*.ppm' -printf '%h\n' | sort -u); do
			"$PYTHON" "$FS/read_until_dead.py" "$directory" "$1" \
				"$T/log-$job-${directory##*/}" &
			readers+=($!)
		done
	done
}

# read_ends: waits for the readers, and checks that each file was the same in all lives
read_ends() {
	local log
	wait "${readers[@]}" || true
	for log in "$T"/log-*; do
		[[ $(cut -d' ' -f1 "$log" | sort -u | wc -l) -eq $(sort -u "$log" | wc -l) ]] ||
			fail "a file of ${log##*/} changed: $(sort "$log" | uniq -w 12 -D | head -4)"
	done
}

crash() {
	kill -KILL "$PID"
	wait "$PID" || true
	PID=
	unmount "$M"
}

# bindings JOB: prints positions, samples, labels and paths
bindings() {
	order "$1" | cut -f1-3,5 | sort
}

# start_after FUNCTION: ends the daemon, starts it, and checks that it has the same bindings
start_after() {
	local job
	for job in a b; do bindings $job >"$T/bound-$job"; done
	"$1"
	start
	for job in a b; do bindings $job | cmp - "$T/bound-$job"; done
}

for ((life = 1; life <= LIVES; life++)); do
	start
	read_all "$life"
	until [[ $(cat "$T"/log-* 2>/dev/null | wc -l) -gt $((6 * life)) ]]; do sleep 0.02; done
	sleep "0.$((RANDOM % 40 + 5))"
	crash
	read_ends
done

start
start_after crash
start_after stop
read_all 0
read_ends
for job in a b; do
	once $job 240
	equal "bindings of $job that are gone" "$(bindings $job | comm -23 "$T/bound-$job" -)" ""
done
pixels "a 0 32"
stop
