#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A full state directory is refused at the start. If it becomes full while epochs are read, reading
# goes on, the log has a few lines about it, and all data is written when there is room again.
. "$(dirname "$0")/lib.sh"
alone
mount -t tmpfs -o size=2m,mode=700 tmpfs "$T/state" 2>/dev/null ||
	skip "needs root, to mount a tmpfs"
dataset 2 80
job a tensor.crop=32 job.epochs=9
job c tensor.crop=32 job.epochs=9 view.layout=classes
fill() { cat /dev/zero >"$T/state/full" 2>/dev/null || true; }
fill
refused state
rm "$T/state/full" "$LOG"

start
orders() { for epoch in 0 1 2 3; do for job in a c; do order $job 000$epoch; done; done | cut -f1-3,5; }
# wait_for TEXT TIMES: waits until TIMES lines of the log have TEXT
wait_for() {
	for _ in $(seq 100); do
		(($(grep -c -- "$1" "$LOG" || true) < $2)) || return 0
		sleep 0.1
	done
	fail "'$1' is not in the log $2 times"
}
read_on() { cat "$(epoch a "$1")"/*.ppm "$(epoch c "$1")"/*/*.ppm >/dev/null; }

read_on 0000
fill
for epoch in 0001 0002 0003; do
	read_on $epoch || fail "epoch $epoch can't be read"
	once a 160 $epoch
	once c 160 $epoch
done
orders >"$T/orders"
lines=$(grep -c "No space left" "$LOG" || true)
echo "$lines lines of the log say that there is no room"
((lines > 0 && lines <= 6)) || fail "$lines lines of the log say that there is no room"
job_text b tensor.crop=32 | ctl add - 2>"$T/message" && fail "a job is added that can't be kept"
grep -q "No space left" "$T/message" || fail "$(cat "$T/message")"

# There is room again: the orders of ended epochs are written to their files, even if no reader
# reads.
rm "$T/state/full"
for job in a c; do
	for _ in $(seq 100); do
		[[ ! -e $T/state/jobs/$job/epoch-0002.order ]] || break
		sleep 0.1
	done
	ls "$T/state/jobs/$job"
	[[ -e $T/state/jobs/$job/epoch-0002.order ]] || fail "an order is not saved"
done
kill -KILL "$PID"
wait "$PID" || true
unmount "$M"
start
orders | diff "$T/orders" - || fail "what was decided without room is lost"
read_on 0004
