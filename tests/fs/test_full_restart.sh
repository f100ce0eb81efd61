#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A start with a full state directory: jobs, inis and orders are unchanged, epochs go on in memory,
# and nothing is missing when there is room again.
. "$(dirname "$0")/lib.sh"
mount -t tmpfs -o size=2m,mode=700 tmpfs "$T/state" 2>/dev/null ||
	skip "needs root, to mount a tmpfs"
dataset 2 80
job a tensor.crop=32 job.epochs=9
start
job_text b tensor.crop=32 job.epochs=9 | ctl add -
for job in a b; do
	cat "$(epoch $job)"/*.ppm >/dev/null
	cat "$(epoch $job 0001)"/0000000?.ppm >/dev/null
done
for _ in $(seq 100); do
	(($(find "$T"/state/jobs/*/epoch-0000.* 2>/dev/null | wc -l) < 2)) || break
	sleep 0.1
done
orders() { for job in a b; do order $job && order $job 0001; done | cut -f1-3,5; }
orders >"$T/orders"
stop
kept() { (cd "$T/state/jobs" && find . -type f ! -name '*.new' | sort | xargs md5sum); }
kept >"$T/kept"

cat /dev/zero >"$T/state/full" 2>/dev/null || true
start
equal "jobs" "$(names "$M/jobs" | xargs)" "a b"
orders | diff "$T/orders" - || fail "the orders are others"
kept | diff "$T/kept" - || fail "the files of the jobs are others"
for job in a b; do
	cat "$(epoch $job 0001)"/*.ppm >/dev/null || fail "the epoch can't be read to its end"
	once $job 160 0001
done
orders >"$T/orders"
rm "$T/state/full"
again() { grep -c 'written again; nothing is missing' "$LOG" || true; }
for _ in $(seq 100); do
	(($(again) < 2)) || break
	sleep 0.1
done
equal "journals that are written again" "$(again)" 2
stop

start
equal "jobs" "$(names "$M/jobs" | xargs)" "a b"
orders | diff "$T/orders" - || fail "what was decided without room is lost"
