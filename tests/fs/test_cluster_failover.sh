#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: a server that fails over
# A server dies while two ranks read, and its replica takes over: behind a proxy that is switched,
# and with Sentinels. The replica is no engine before it is a master; an old master, which comes back
# and still acts as one, is none any more. Each epoch has each sample once, with samples that the
# replica has lost, too.
# shellcheck disable=SC2034 # cluster.sh uses them
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
N=480 RANKS=2
dataset 2 $((N / 2)) 32x24

# server PORT [OPTION...]
server() {
	mkdir -p "$T/$1"
	redis-server --port "$1" --bind 127.0.0.1 --dir "$T/$1" --save '' "${@:2}" >>"$T/redis.log" &
	ret=$!
	until [[ $(redis-cli -p "$1" ping 2>&1) == PONG ]]; do sleep 0.02; done
}

# two_servers: starts $MASTER at port $FIRST, and its replica at port $SECOND
two_servers() {
	FIRST=$(free_port) SECOND=$(free_port)
	server "$FIRST"
	MASTER=$ret
	server "$SECOND" --replicaof "127.0.0.1 $FIRST" --repl-diskless-sync-delay 0
	until redis-cli -p "$SECOND" info replication | grep -q master_link_status:up; do sleep 0.02; done
}

# reads NODE JOB: reads two epochs, the first one file by file
reads() {
	local k
	for ((k = 0; k < N / 2; k++)); do
		timeout 60 cat "$T/$1/mnt/jobs/$2/epoch-0000/$(printf %08d "$k").ppm" >/dev/null || return 1
		echo "$k" >"$T/at.$1"
		sleep 0.01
	done
	timeout 60 cat "$T/$1/mnt/jobs/$2/epoch-0001"/*.ppm >/dev/null
}

# epochs_with FUNCTION: the ranks read epochs, and in epoch 0 the function makes the replica the
# master
# epochs_with FUNCTION cut: before that, the replica gets no data about drawn and read samples
epochs_with() {
	local reader epoch
	rm -rf "$T"/[ab] "$T"/at.*
	pair 'ttl = 1s' tensor.crop=16 view.lookahead=4
	reads a r0 &
	READERS=($!)
	reads b r1 &
	READERS+=($!)
	until [[ -s $T/at.a && -s $T/at.b ]]; do sleep 0.02; done
	[[ $# == 1 ]] || redis-cli -p "$SECOND" replicaof 127.0.0.1 1 >/dev/null
	until [[ $(<"$T/at.a") == ??? && $(<"$T/at.b") == ??? ]]; do sleep 0.02; done
	kill -KILL "$MASTER"
	wait "$MASTER" 2>/dev/null || true
	$1
	for reader in "${READERS[@]}"; do
		wait "$reader" || fail "$1: a reader failed at $(<"$T/at.a"), $(<"$T/at.b")"
	done
	for epoch in 0 1; do
		equal "$1: epoch $epoch" \
			"$(cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-000$epoch.order | sort -n)" "$(seq 0 $((N - 1)))"
	done
	end a
	end b
	for name in a b; do unmount "$T/$name/mnt"; done
}

switched() {
	echo "$SECOND" >"$T/target.new" && mv "$T/target.new" "$T/target"
	shows a '^message the engine is a slave, allowed: a master'
	redis-cli -p "$SECOND" replicaof no one >/dev/null
}

two_servers
PROXY=$(free_port)
echo "$FIRST" >"$T/target"
"$PYTHON" "$FS/switched_proxy.py" "$PROXY" "$T/target" &
ENGINE=redis://127.0.0.1:$PROXY
epochs_with switched cut
logged 'the engine can be reached again'

# by_sentinel: the old master comes back
by_sentinel() {
	until [[ $(redis-cli -p "$SECOND" role | head -n 1) == master ]]; do sleep 0.05; done
	server "$FIRST"
	shows a '^term [2-9]'
	shows a '^repairing no$'
	equal "nodes that changed their master" "$(grep -c 'the engine can be reached again' "$LOG")" 2
}

two_servers
SENTINEL=$(free_port)
printf '%s\n' "port $SENTINEL" "sentinel monitor m 127.0.0.1 $FIRST 1" \
	'sentinel down-after-milliseconds m 500' 'sentinel failover-timeout m 2000' >"$T/sentinel.conf"
redis-server "$T/sentinel.conf" --sentinel --dir "$T" >>"$T/redis.log" &
until redis-cli -p "$SENTINEL" sentinel replicas m 2>/dev/null | grep -q "^$SECOND\$"; do sleep 0.05; done
ENGINE=redis-sentinel://127.0.0.1:1,127.0.0.1:$SENTINEL/other
node a 'ttl = 1s'
launch a
shows a "^message the engine refuses SENTINEL: no master 'other'"
end a
unmount "$T/a/mnt"
ENGINE=${ENGINE/other/m}
: >"$LOG"
epochs_with by_sentinel
