#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: a server that fails over
# Sentinels tell where the master is: a node continues with the replica that takes over, and not
# with the old master, which comes back and still acts as one. A replica is refused.
# shellcheck disable=SC2034 # cluster.sh uses them
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
dataset 1 4
FIRST=$(free_port) SECOND=$(free_port) SENTINEL=$(free_port)

# server PORT [OPTION...]
server() {
	mkdir -p "$T/$1"
	redis-server --port "$1" --bind 127.0.0.1 --dir "$T/$1" --save '' "${@:2}" >>"$T/redis.log" &
	until [[ $(redis-cli -p "$1" ping 2>&1) == PONG ]]; do sleep 0.02; done
}

server "$FIRST"
master=$!
server "$SECOND" --replicaof "127.0.0.1 $FIRST" --repl-diskless-sync-delay 0
until redis-cli -p "$SECOND" info replication | grep -q master_link_status:up; do sleep 0.02; done

ENGINE=redis://127.0.0.1:$SECOND
node a 'ttl = 1s'
launch a
shows a '^message the engine is a slave, allowed: a master'
end a
unmount "$T/a/mnt"

printf '%s\n' "port $SENTINEL" "sentinel monitor m 127.0.0.1 $FIRST 1" \
	'sentinel down-after-milliseconds m 500' 'sentinel failover-timeout m 2000' >"$T/sentinel.conf"
redis-server "$T/sentinel.conf" --sentinel --dir "$T" >>"$T/redis.log" &
until [[ $(redis-cli -p "$SENTINEL" ping 2>&1) == PONG ]]; do sleep 0.02; done
until redis-cli -p "$SENTINEL" sentinel replicas m | grep -q "^$SECOND\$"; do sleep 0.05; done
ENGINE=redis-sentinel://127.0.0.1:1,127.0.0.1:$SENTINEL/other
node a 'ttl = 1s'
launch a
shows a "^message the engine refuses SENTINEL: no master 'other'"
end a
unmount "$T/a/mnt"
ENGINE=redis-sentinel://127.0.0.1:1,127.0.0.1:$SENTINEL/m
node a 'ttl = 1s'
launch a
shows a '^state leads$'
equal "nodes of the master" "$(redis-cli -p "$FIRST" smembers '{joaderfs}:nodes')" a

kill -KILL "$master"
wait "$master" 2>/dev/null || true
until [[ $(redis-cli -p "$SECOND" role | head -n 1) == master ]]; do sleep 0.05; done
server "$FIRST"
shows a '^term 2$'
shows a '^repairing no$'
shows a '^state leads$'
equal "masters that took over" "$(grep -c 'the engine can be reached again' "$LOG")" 1
end a
