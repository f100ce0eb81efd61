# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Several daemons that are the nodes of a group, and the Redis server that they reach; after
# lib.sh. Each has its ini, jobs, state, socket and mount in $T/NAME.
command -v redis-server >/dev/null || skip "no redis-server"
pkg-config --exists hiredis || skip "built without hiredis"
ulimit -c 0

# redis: $REDIS
redis() {
	redis-server --port 0 --unixsocket "$T/redis" --dir "$T" --save '' --appendonly yes \
		--appendfsync always --daemonize no >"$T/redis.log" 2>&1 &
	REDIS=$!
	until redis-cli -s "$T/redis" ping >/dev/null 2>&1; do sleep 0.02; done
}

kill_redis() {
	kill -KILL "$REDIS"
	wait "$REDIS" 2>/dev/null || true
}

# node NAME [CLUSTER-LINE...]
node() {
	local name=$1
	shift
	mkdir -p "$T/$name/mnt" "$T/$name/jobs"
	{
		printf '[joaderfs]\ncache = 64M\nseed = %d\nstate = %s/state\njobs = jobs\n' $RANDOM "$T/$name"
		printf 'socket = %s/socket\n[dataset images]\npath = %s\n%s\n' "$T/$name" "$D" "${DATASET_LINES:-}"
		printf '[cluster]\nengine = redis+unix://%s\nnode = %s\n' "$T/redis" "$name"
		printf '%s\n' "$@"
	} >"$T/$name/joaderfs.ini"
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

# end NAME
end() {
	kill -TERM "${pid[$1]}"
	wait "${pid[$1]}" || fail "$1 ended with $?: $(<"$LOG")"
}

# end_now NAME: as by the lack of memory
end_now() {
	kill -KILL "${pid[$1]}"
	wait "${pid[$1]}" 2>/dev/null || true
	umount -l "$T/$1/mnt"
}

# nctl NAME COMMAND...: joaderctl
nctl() {
	"$BUILD/joaderctl" --socket "$T/$1/socket" "${@:2}"
}

# of NAME COUNTER
of() {
	sed -n "s/^$2 //p" "$T/$1/mnt/stats"
}

# until_shows NAME WORDS: joaderctl cluster does, within some seconds
until_shows() {
	local _
	for _ in $(seq 400); do
		nctl "$1" cluster >"$T/cluster"
		! grep -q "$2" "$T/cluster" || return 0
		sleep 0.05
	done
	fail "not '$2' in: $(<"$T/cluster")"
}

# until_log WORDS: the log has them, within some seconds
until_log() {
	local _
	for _ in $(seq 400); do
		! grep -q "$1" "$LOG" || return 0
		sleep 0.05
	done
	fail "not '$1' in: $(<"$LOG")"
}
