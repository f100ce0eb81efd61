#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The daemon is killed again and again while jobs read. A position that was read keeps its sample,
# and over all lives of the daemon each sample comes once.
. "$(dirname "$0")/lib.sh"
alone
LIVES=${LIVES:-4}
dataset 4 60 64x48
job a tensor.crop=32
job b tensor.crop=32 view.layout=classes
config joaderfs.seed=0

for ((life = 1; life <= LIVES; life++)); do
	start
	for job in a b; do
		for directory in $(find "$(epoch $job)" -name '*.ppm' -printf '%h\n' | sort -u); do
			"$PYTHON" "$FS/read_until_dead.py" "$directory" "$life" \
				"$T/log-$job-${directory##*/}" &
		done
	done
	sleep "0.$((RANDOM % 40 + 5))"
	kill -KILL "$PID"
	wait "$PID" || true
	PID=
	unmount "$M"
	wait
	for log in "$T"/log-*; do
		[[ $(cut -d' ' -f1 "$log" | sort -u | wc -l) -eq $(sort -u "$log" | wc -l) ]] ||
			fail "life $life: a file of ${log##*/} changed: $(sort "$log" | uniq -w 12 -D | head -4)"
	done
done

start
for job in a b; do
	order $job | cut -f1,2 | sort >"$T/before-$job"
	find "$(epoch $job)" -name "*.ppm" -exec cat {} + >/dev/null
	once $job 240
	order $job | cut -f1,2 | sort | comm -23 "$T/before-$job" - >"$T/gone"
	equal "bindings of $job that are gone" "$(cat "$T/gone")" ""
done
[[ $(cat "$T"/log-* | wc -l) -gt 20 ]] || fail "the readers have hardly read anything"
stop
