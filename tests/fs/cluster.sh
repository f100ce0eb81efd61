# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash disable=SC2034
#
# For tests of several daemons, which agree by a Redis server. Sourced after lib.sh.
#
#     redis                   the server
#     node a 'ttl = 1s'       a daemon's ini, with lines for its [cluster]
#     rank a 0                a job, which is rank 0 of a training
#     launch a                ${PIDS[a]}, mounted on $T/a/mnt
#
# With `networks`, before all of these, each node has a network name space of its own, whose
# link can be cut.

command -v redis-server >/dev/null || skip "no redis-server"
pkg-config --exists hiredis || skip "built without hiredis"
ulimit -c 0

declare -A PIDS
declare -A NET          # of a node: the process that holds its network name space
ENGINE=redis+unix://$T/redis
RANKS=4
REDIS=
SEED=0
LISTEN=(--port 0)

# --- the server ------------------------------------------------------------------------

ask() {
	redis-cli -s "$T/redis" "$@"
}

# redis [OPTION VALUE...]: with what is in $T/engine; ${NET[engine]}, if it is there
redis() {
	mkdir -p "$T/engine"
	${NET[engine]+nsenter -t "${NET[engine]}" -n} redis-server "${LISTEN[@]}" \
		--unixsocket "$T/redis" --dir "$T/engine" --save '' --appendonly yes \
		--appendfsync always --daemonize no "$@" >>"$T/redis.log" 2>&1 &
	REDIS=$!
	until [[ $(ask ping 2>&1) == PONG ]]; do
		kill -0 "$REDIS" || fail "the server has ended: $(tail -n 5 "$T/redis.log")"
		sleep 0.02
	done
}

kill_redis() {
	kill -KILL "$REDIS"
	wait "$REDIS" 2>/dev/null || true
	rm -f "$T/redis"
}

# roll_back COMMAND...: to what the server had before the command
roll_back() {
	rm -rf "$T/older"
	cp -r "$T/engine" "$T/older"
	"$@"
	kill_redis
	rm -r "$T/engine"
	mv "$T/older" "$T/engine"
}

# --- nodes -----------------------------------------------------------------------------

# node NAME [LINE...]: no [cluster] without lines
node() {
	local name=$1
	shift
	SEED=$((SEED + 1))
	mkdir -p "$T/$name/mnt" "$T/$name/jobs"
	{
		printf '[joaderfs]\ncache = 64M\nseed = %d\njobs = jobs\n' "$SEED"
		printf 'state = %s/state\nsocket = %s/socket\n' "$T/$name" "$T/$name"
		printf '[dataset images]\npath = %s\n' "$D"
		(($# == 0)) || printf '[cluster]\nengine = %s\nnode = %s\n' "$ENGINE" "$name"
		(($# == 0)) || printf '%s\n' "$@"
	} >"$T/$name/joaderfs.ini"
}

# rank NODE NUMBER [section.key=value...]: job rNUMBER, of a training `net` with $RANKS
rank() {
	job_text "r$2" job.epochs=9 job.ranks="$RANKS" job.rank="$2" job.training=net \
		job.global_batch=8 "${@:3}" >"$T/$1/jobs/r$2.ini"
}

launch() {
	${NET[$1]+nsenter -t "${NET[$1]}" -n} "$PROGRAM" --no-supervisor \
		"$T/$1/joaderfs.ini" "$T/$1/mnt" -f >>"$LOG" 2>&1 &
	PIDS[$1]=$!
	until [[ -e $T/$1/mnt/README ]]; do
		kill -0 "${PIDS[$1]}" || fail "$1 has ended: $(<"$LOG")"
		sleep 0.02
	done
}

end() {
	kill -TERM "${PIDS[$1]}"
	wait "${PIDS[$1]}" || fail "$1 ended with $?: $(<"$LOG")"
}

# kill_node NAME: all of it, at once; launch begins it again
kill_node() {
	kill -KILL "${PIDS[$1]}" 2>/dev/null || true
	wait "${PIDS[$1]}" 2>/dev/null || true
	unmount "$T/$1/mnt"
}

ctl_of() {
	"$BUILD/joaderctl" --socket "$T/$1/socket" "${@:2}"
}

# of NODE COUNTER
of() {
	sed -n "s/^$2 //p" "$T/$1/mnt/stats"
}

# shows NODE WORDS: joaderctl cluster does, within some seconds
shows() {
	local _
	for _ in $(seq 400); do
		ctl_of "$1" cluster >"$T/cluster"
		! grep -q "$2" "$T/cluster" || return 0
		sleep 0.05
	done
	fail "not '$2' in: $(<"$T/cluster")"
}
