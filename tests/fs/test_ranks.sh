#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Jobs that are the ranks of one training: in each epoch each sample goes to one of them, in an
# order that outlasts a restart and a crash of the engine.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 2 24
RANKS=4
for ((r = 0; r < RANKS; r++)); do
	job "r$r" job.epochs=9 job.ranks=$RANKS job.rank=$r job.training=net job.global_batch=8 tensor.crop=32
done
job other tensor.crop=32
config
start

# read_ranks EPOCH RANK...: reads each rank's epoch in its own process
read_ranks() {
	local epoch=$1 rank readers=()
	shift
	for rank; do
		timeout 60 cat "$M/jobs/r$rank/epoch-000$epoch"/*.ppm >/dev/null &
		readers+=($!)
	done
	wait "${readers[@]}"
}

# ids FILE...: prints the sorted samples of orders
ids() {
	cut -f2 "$@" | sort -n
}

whole=$(seq 0 47)
read_ranks 0 0 1 2 3
equal "epoch 0" "$(ids "$M"/jobs/r?/epoch-0000.order)" "$whole"
for ((r = 0; r < RANKS; r++)); do
	equal "positions of rank $r" "$(wc -l <"$M/jobs/r$r/epoch-0000.order")" 12
done
cat "$(epoch other)"/*.ppm >/dev/null
# Ranks of one training must have equal settings.
refused() {
	job_text twin job.epochs=9 job.training=net "${@:2}" tensor.crop=32 >"$T/twin.ini"
	! ctl add "$T/twin.ini" >"$T/out" 2>&1 || fail "a twin was added"
	grep -q "$1" "$T/out" || fail "$(<"$T/out")"
}
refused '\[job\]:rank: found the same as that of job r3' job.ranks=4 job.rank=3 job.global_batch=8
refused '\[job\]:global_batch: found another than that of job r' job.ranks=4 job.rank=3 job.global_batch=16
refused '\[job\]:ranks: found another than that of job r' job.ranks=5 job.rank=4 job.global_batch=8

# shows WORDS: waits some seconds until joaderctl cluster prints WORDS
shows() {
	local _
	for _ in $(seq 200); do
		ctl cluster >"$T/cluster"
		! grep -q "$1" "$T/cluster" || return 0
		sleep 0.05
	done
	fail "not '$1' in: $(<"$T/cluster")"
}
shows '^state leads$'
shows '^rank net 3/4 job r3 held epoch 0 drawn 48/48 .* committed 0:12$'

# Half of epoch 1 is read, then the engine is killed: the other half has the remaining samples.
for ((r = 0; r < RANKS; r++)); do
	timeout 60 cat "$M/jobs/r$r/epoch-0001"/0000000[0-5].ppm >/dev/null
	cp "$M/jobs/r$r/epoch-0001.order" "$T/before.$r"
done
kill_engine KILL
read_ranks 1 0 1 2 3
equal "epoch 1" "$(ids "$M"/jobs/r?/epoch-0001.order)" "$whole"
for ((r = 0; r < RANKS; r++)); do
	head -n "$(wc -l <"$T/before.$r")" "$M/jobs/r$r/epoch-0001.order" |
		cut -f1,2 | cmp - <(cut -f1,2 "$T/before.$r") || fail "rank $r has another order"
done
stop
start
read_ranks 2 0 1 2 3
equal "epoch 2" "$(ids "$M"/jobs/r?/epoch-0002.order)" "$whole"
