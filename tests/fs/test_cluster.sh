#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The ranks of one training on two daemons that agree by a Redis server: each sample goes to
# one rank in each epoch, also when a daemon is killed and comes back, when the server dies
# and comes back, and when it comes back without the last of what it knew. What does not fit
# the group is refused: another selection of samples, a node's name that is taken.
. "$(dirname "$0")/lib.sh"
command -v redis-server >/dev/null || skip "no redis-server"
pkg-config --exists hiredis || skip "built without hiredis"
ulimit -c 0
dataset 2 24
RANKS=4
whole=$(seq 0 47)

redis() {
	redis-server --port 0 --unixsocket "$T/redis" --dir "$T" --save '' --appendonly yes \
		--appendfsync always --daemonize no >"$T/redis.log" 2>&1 &
	REDIS=$!
	until redis-cli -s "$T/redis" ping >/dev/null 2>&1; do sleep 0.02; done
}

# node NAME RANK...: its ini, jobs and directories
node() {
	local name=$1 rank
	shift
	mkdir -p "$T/$name/mnt" "$T/$name/jobs"
	{
		printf '[joaderfs]\ncache = 64M\nseed = 1\nstate = %s/state\njobs = jobs\n' "$T/$name"
		printf 'socket = %s/socket\n[dataset images]\npath = %s\n' "$T/$name" "$D"
		printf '[cluster]\nengine = redis+unix://%s\nnode = %s\nttl = 1s\n' "$T/redis" "$name"
	} >"$T/$name/joaderfs.ini"
	for rank; do
		job_text "r$rank" job.epochs=9 job.ranks=$RANKS job.rank="$rank" job.training=net \
			job.global_batch=8 tensor.crop=32 view.lookahead=4 >"$T/$name/jobs/r$rank.ini"
	done
}

# launch NAME: ${pid[NAME]}
declare -A pid
launch() {
	"$PROGRAM" --no-supervisor "$T/$1/joaderfs.ini" "$T/$1/mnt" -f >>"$LOG" 2>&1 &
	pid[$1]=$!
	until [[ -e $T/$1/mnt/README ]]; do
		kill -0 "${pid[$1]}" || fail "$1 has ended: $(<"$LOG")"
		sleep 0.02
	done
}

# files EPOCH FIRST LAST: of all ranks, each read by a process of its own
files() {
	local rank k readers=() at
	for ((rank = 0; rank < RANKS; rank++)); do
		at=$T/a
		((rank < 2)) || at=$T/b
		(
			for ((k = $2; k <= $3; k++)); do
				timeout 60 cat "$at/mnt/jobs/r$rank/epoch-000$1/$(printf %08d "$k").ppm"
			done >/dev/null
		) &
		readers+=($!)
	done
	for k in "${readers[@]}"; do
		wait "$k" || fail "a reader of epoch $1 failed"
	done
}

ids() {
	cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-"$1".order | sort -n
}

# shows NODE WORDS: joaderctl cluster does, within some seconds
shows() {
	local _
	for _ in $(seq 400); do
		"$BUILD/joaderctl" --socket "$T/$1/socket" cluster >"$T/cluster"
		! grep -q "$2" "$T/cluster" || return 0
		sleep 0.05
	done
	fail "not '$2' in: $(<"$T/cluster")"
}

redis
node a 0 1
node b 2 3
launch a
launch b
files 0 0 11
equal "epoch 0" "$(ids 0000)" "$whole"
shows a '^member b '
shows b '^member a '

# A daemon is killed in the middle: what it had bound stays, the rest comes.
files 1 0 5
cp "$T/b/mnt/jobs/r2/epoch-0001.order" "$T/before"
kill -KILL "${pid[b]}"
wait "${pid[b]}" 2>/dev/null || true
umount -l "$T/b/mnt"
launch b
files 1 6 11
equal "epoch 1" "$(ids 0001)" "$whole"
head -n "$(wc -l <"$T/before")" "$T/b/mnt/jobs/r2/epoch-0001.order" | cut -f1,2 |
	cmp - <(cut -f1,2 "$T/before") || fail "rank 2 has another order"

# The server dies: readers go on when it is back.
files 2 0 3
kill -KILL "$REDIS"
wait "$REDIS" 2>/dev/null || true
shows a '^state away$'
redis
files 2 4 11
equal "epoch 2" "$(ids 0002)" "$whole"

# It forgets everything: what the journals know is put back.
files 3 0 5
kill -KILL "$REDIS"
wait "$REDIS" 2>/dev/null || true
rm -rf "$T"/appendonly*
redis
files 3 6 11
equal "epoch 3" "$(ids 0003)" "$whole"

# What does not fit.
node c 0
sed -i 's/^node = c/node = a/' "$T/c/joaderfs.ini"
launch c
shows c '^state refused$'
kill "${pid[c]}"
wait "${pid[c]}" || true
sed -i 's/^node = a/node = c/' "$T/c/joaderfs.ini"
sed -i '/^\[job\]/a where = id < 40' "$T/c/jobs/r0.ini"
launch c
shows c '^rank net .* refused: '
files 4 0 11
equal "epoch 4" "$(ids 0004)" "$whole"
