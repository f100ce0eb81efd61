#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl adds and removes jobs while others are read: these are not disturbed, and nothing of the
# removed jobs stays.
. "$(dirname "$0")/lib.sh"
dataset 4 20
job a tensor.crop=32
job b tensor.crop=32 job.epochs=3
start

read_epoch a &
reader_a=$!
(for e in 0000 0001 0002; do read_epoch b $e; done) &
reader_b=$!
for i in 1 2 3 4 5 6; do
	job_text "guest$i" tensor.crop=32 "job.where=label < $((i % 3 + 1))" | ctl add -
	cat "$(epoch guest$i)"/0000000[0-7].ppm >/dev/null
	ctl ls | grep -q guest$i
	ctl rm "guest$i"
	[[ ! -e $M/jobs/guest$i ]] || fail "guest$i is still there"
done
wait $reader_a
wait $reader_b
once a 80
for e in 0000 0001 0002; do once b 80 $e; done
nothing_held
ctl rm nobody && fail "a job that is not there was removed"
job_text a | ctl add - && fail "a job was added twice"
job_text bad tensor.crop=x | ctl add - 2>"$T/message" && fail "a bad job was added"
grep -q crop "$T/message"
