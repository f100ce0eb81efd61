# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash disable=SC2034
#
# Functions for tests of several daemons, which agree through a Redis server. Sourced after lib.sh.
#
#     redis                   starts the server
#     node a 'ttl = 1s'       writes a daemon's ini, with lines for its [cluster]; $DATASET_LINES
#                             has lines for its dataset
#     rank a 0                writes the ini of a job, which is rank 0 of a training
#     pair 'ttl = 1s'         two nodes, each with a rank of one training, which are launched
#     launch a                starts the daemon ${PIDS[a]}, mounted on $T/a/mnt
#
# After `networks`, which a test calls first, each node has a network name space of its own, whose
# link can be cut.

command -v redis-server >/dev/null || skip "no redis-server"
pkg-config --exists hiredis || skip "built without hiredis"
ulimit -c 0

declare -A PIDS ADDRESS
declare -A NET          # by node: the process that holds its network name space
ENGINE=redis+unix://$T/redis
RANKS=4
REDIS=
under=() # a command that runs the server and the daemons
day_ahead=(unshare --time --monotonic 86400)
SEED=0
LISTEN=(--port 0)

# --- the server ------------------------------------------------------------------------

ask() {
	redis-cli -s "$T/redis" "$@"
}

# redis [OPTION VALUE...]: starts the server with the data in $T/engine, in the name space of
# ${NET[engine]} if that is set
redis() {
	mkdir -p "$T/engine"
	${NET[engine]+nsenter -t "${NET[engine]}" -n} "${under[@]}" redis-server "${LISTEN[@]}" \
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

# roll_back COMMAND...: runs the command, then gives the server the data that it had before
roll_back() {
	rm -rf "$T/older"
	cp -r "$T/engine" "$T/older"
	"$@"
	kill_redis
	rm -r "$T/engine"
	mv "$T/older" "$T/engine"
}

# --- certificates ----------------------------------------------------------------------

# authority NAME: makes a certificate authority in $T/NAME.crt and $T/NAME.key; certificate NAME
# AUTHORITY SUBJECT-ALTERNATIVE makes a certificate that it has signed
authority() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-keyout "$T/$1.key" -out "$T/$1.crt" 2>/dev/null
}
certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
		-CA "$T/$2.crt" -CAkey "$T/$2.key" -addext "subjectAltName=$3" \
		-addext basicConstraints=critical,CA:FALSE \
		-keyout "$T/$1.key" -out "$T/$1.crt" 2>/dev/null
}

# --- nodes -----------------------------------------------------------------------------

# node NAME [LINE...]: writes the ini of a daemon, without a [cluster] if there are no lines
node() {
	local name=$1
	shift
	SEED=$((SEED + 1))
	mkdir -p "$T/$name/mnt" "$T/$name/jobs"
	{
		printf '[joaderfs]\ncache = 64M\nseed = %d\njobs = jobs\n' "$SEED"
		printf 'state = %s/state\nsocket = %s/socket\n' "$T/$name" "$T/$name"
		printf '[dataset images]\npath = %s\n%s\n' "$D" "${DATASET_LINES-}"
		(($# == 0)) || printf '[cluster]\nengine = %s\nnode = %s\n' "$ENGINE" "$name"
		(($# == 0)) || printf '%s\n' "$@"
	} >"$T/$name/joaderfs.ini"
}

# rank NODE NUMBER [section.key=value...]: writes the ini of job rNUMBER, which is rank NUMBER of the
# training `net` with $RANKS ranks
rank() {
	job_text "r$2" job.epochs=9999 job.ranks="$RANKS" job.rank="$2" job.training=net \
		job.global_batch=8 "${@:3}" >"$T/$1/jobs/r$2.ini"
}

# pair LINE [section.key=value...]: launches the nodes a and b, each with this line in [cluster] and
# with a rank of a training of two
pair() {
	RANKS=2
	node a "$1"
	node b "$1"
	rank a 0 "${@:2}"
	rank b 1 "${@:2}"
	launch a
	launch b
}

launch() {
	${NET[$1]+nsenter -t "${NET[$1]}" -n} "${under[@]}" "$PROGRAM" --no-supervisor \
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

# not_started WORDS URL [LINE...]: checks that node a does not start, logs WORDS, and shows no
# password
not_started() {
	local status=0
	ENGINE=$2
	node a 'ttl = 1s' "${@:3}"
	timeout 20 "$PROGRAM" --no-supervisor "$T/a/joaderfs.ini" "$T/a/mnt" -f >"$T/out" 2>&1 ||
		status=$?
	equal "status of a start" "$status" 1
	grep -qF -- "$1" "$T/out" || fail "not '$1' in: $(<"$T/out")"
	! grep -q 'hunter2\|ter2' "$T/out" || fail "the password is shown: $(<"$T/out")"
}

# kill_node NAME: kills the supervisor and the engine of a node; launch starts it again
kill_node() {
	kill -KILL "${PIDS[$1]}" 2>/dev/null || true
	wait "${PIDS[$1]}" 2>/dev/null || true
	unmount "$T/$1/mnt"
}

ctl_of() {
	"$BUILD/joaderctl" --socket "$T/$1/socket" "${@:2}"
}

# of NODE COUNTER: prints a counter of a node
of() {
	sed -n "s/^$2 //p" "$T/$1/mnt/stats"
}

# shows NODE WORDS: waits some seconds until joaderctl cluster prints WORDS
shows() {
	local _
	for _ in $(seq 400); do
		ctl_of "$1" cluster >"$T/cluster"
		! grep -q "$2" "$T/cluster" || return 0
		sleep 0.05
	done
	fail "not '$2' in: $(<"$T/cluster")"
}

# reads NODE JOB EPOCH FIRST LAST: reads these positions
reads() {
	local k
	for ((k = $4; k <= $5; k++)); do
		timeout 60 cat "$T/$1/mnt/jobs/$2/epoch-000$3/$(printf %08d "$k").ppm" >/dev/null && continue
		echo "$1 can't read position $k of epoch $3 of $2: $(ctl_of "$1" cluster)" >&2
		return 1
	done
}

# samples NODE JOB EPOCH FIRST LAST: prints the samples of these positions
samples() {
	awk -v first="$4" -v last="$5" '$1 >= first && $1 <= last { print $2 }' \
		"$T/$1/mnt/jobs/$2/epoch-000$3.order"
}

# --- samples from node to node -----------------------------------------------------------

# meet: waits until nodes a and b know where the other one listens
meet() {
	shows a '^member a 127.0.0.1:'
	shows b '^member b 127.0.0.1:'
	shows a "$(ctl_of b cluster | grep -o '^member b [0-9.:]*')\b"
	shows b "$(ctl_of a cluster | grep -o '^member a [0-9.:]*')\b"
}

# sums NODE JOB EPOCH POSITIONS: reads files, and prints sample and checksum of each
sums() {
	local at=$T/$1/mnt/jobs/$2/epoch-000$3 k sum
	for k in $4; do
		sum=$(timeout 60 cat "$at/$(printf %08d "$k").ppm" | md5sum) || return 1
		echo "$k $sum" | cut -d' ' -f1,2
	done | sort -k1,1 >"$T/read.$1"
	cut -f1,2 "$at.order" | tr '\t' ' ' | sort -k1,1 | join -o 1.2,2.2 - "$T/read.$1" | sort -n
}

# both FUNCTION...: runs the function in a process for each node, with its output in $T/out.NODE
both() {
	local readers=() node
	for node in a b; do
		"$1" "$node" "${@:2}" >"$T/out.$node" &
		readers+=($!)
	done
	for node in "${readers[@]}"; do
		wait "$node" || fail "a reader failed"
	done
}

# --- networks --------------------------------------------------------------------------

# networks NODE...: makes a network name space for each node and for the server; `bridge` joins them
networks() {
	local name process address status=0
	"$ROOT/tools/network" "$@" >"$T/network" &
	NETWORK=$!
	until grep -q ^bridge "$T/network"; do
		if ! kill -0 "$NETWORK" 2>/dev/null; then
			wait "$NETWORK" || status=$?
			((status == 77)) || fail "no network"
			skip "network name spaces are not allowed here"
		fi
		sleep 0.02
	done
	while read -r name process address; do
		NET[$name]=$process
		ADDRESS[$name]=$address
	done <"$T/network"
	NET[engine]=${NET[bridge]}
	LISTEN=(--port 16379 --bind "${ADDRESS[bridge]}" --protected-mode no)
	ENGINE=redis://${ADDRESS[bridge]}:16379/0
}

inside() {
	nsenter -t "${NET[$1]}" -n "${@:2}"
}

# link NAME up|down: mends or cuts the link of a name space
link() {
	inside bridge ip link set "to-$1" "$2"
}

# silent FROM TO: drops the packets from one node, or the bridge, to another; heard FROM TO lets them
# through again
silent() {
	inside "$1" ip neighbour replace "${ADDRESS[$2]}" lladdr 02:00:00:00:00:01 \
		nud permanent dev "$(inside "$1" ip -o route get "${ADDRESS[$2]}" | sed 's/.* dev \([^ ]*\).*/\1/')"
}

heard() {
	inside "$1" ip neighbour flush nud permanent "${ADDRESS[$2]}"
}

# --- readers of all ranks --------------------------------------------------------------

# read_ranks MS READER...: starts rank_readers.py in the background; finish_reading ends it
read_ranks() {
	"$PYTHON" "$FS/rank_readers.py" "$T" "$1" "$T/redis" "${@:2}" >"$T/readers" 2>&1 &
	READERS=$!
	until [[ -e $T/progress ]]; do sleep 0.02; done
}

# describe: prints the state of nodes and readers, for a failed test
describe() {
	local name
	cat "$T/progress" "$T/readers" >&2
	for name in "${!PIDS[@]}"; do
		timeout 5 "$BUILD/joaderctl" --socket "$T/$name/socket" cluster >&2 || true
	done
}

# they_go_on RANK...: checks that each rank reads on, or waits until other ranks have ended the
# epoch
they_go_on() {
	local rank was now state before
	cat "$T/progress" >"$T/before"
	for rank; do
		read -r _ before _ < <(grep "^$rank " "$T/before")
		for was in $(seq 1200); do
			kill -0 "$READERS" 2>/dev/null || fail "readers: $(<"$T/readers")"
			read -r _ now state < <(grep "^$rank " "$T/progress") || true
			[[ $now == "$before" && $state == reads ]] || break
			if ((was == 1200)); then
				describe
				fail "rank $rank does not go on"
			fi
			sleep 0.05
		done
	done
}

# they_wait: waits until no rank reads on, because all drawn samples are read
they_wait() {
	local was='' _
	for _ in $(seq 60); do
		[[ $(<"$T/progress") != "$was" ]] || return 0
		was=$(<"$T/progress")
		sleep 1
	done
	fail "they read on: $was"
}

# finish_reading: lets all ranks end their epoch; checks that they saw no error, and hold nothing
finish_reading() {
	local name _ status=0
	touch "$T/stop"
	wait "$READERS" || status=$?
	cat "$T/readers"
	if ((status != 0)); then
		describe
		fail "what readers got is wrong"
	fi
	for name in "${!PIDS[@]}"; do
		for _ in $(seq 100); do
			[[ "$(of "$name" cache_pins) $(of "$name" cache_need)" != "0 0" ]] || break
			sleep 0.1
		done
		equal "pins and need of $name" "$(of "$name" cache_pins) $(of "$name" cache_need)" "0 0"
	done
}

ALL=(0 1 2 3 4 5)

row() {
	echo "$SECONDS s: $*"
}

# three_nodes LINE...: starts nodes a, b and c with two of six ranks each; LINEs are for [cluster]
three_nodes() {
	local name number=0
	RANKS=6
	head -c 32 /dev/urandom >"$T/secret"
	chmod 600 "$T/secret"
	for name in a b c; do
		node $name 'ttl = 1s' "secret = $T/secret" "${@//ADDRESS/${ADDRESS[$name]-}}"
		rank $name $number tensor.crop=32 view.lookahead=4
		rank $name $((number + 1)) tensor.crop=32 view.lookahead=4
		number=$((number + 2))
	done
	for name in a b c; do launch $name; done
	for name in a b c; do shows a "^member $name "; done
}

# read_three MS: starts readers of all ranks of three_nodes
read_three() {
	read_ranks "$1" 0:"$T/a/mnt/jobs/r0" 1:"$T/a/mnt/jobs/r1" 2:"$T/b/mnt/jobs/r2" \
		3:"$T/b/mnt/jobs/r3" 4:"$T/c/mnt/jobs/r4" 5:"$T/c/mnt/jobs/r5"
}

# leads: prints the node that reports to be the leader; status 1: there is none
leads() {
	local name
	for name in "${!PIDS[@]}"; do
		if timeout 5 "$BUILD/joaderctl" --socket "$T/$name/socket" cluster 2>/dev/null |
			grep -q '^state leads$'; then
			echo "$name"
			return 0
		fi
	done
	return 1
}

# leader: waits for a leader, and prints it
leader() {
	local _
	for _ in $(seq 400); do
		! leads || return 0
		sleep 0.05
	done
	fail "no node leads"
}

follower() {
	local name lead
	lead=$(leader)
	for name in "${!PIDS[@]}"; do
		[[ $name == "$lead" ]] || break
	done
	echo "$name"
}

# another_leads NAME: waits until a node other than NAME leads
another_leads() {
	local name
	for name in "${!PIDS[@]}"; do
		[[ $name == "$1" ]] || break
	done
	shows "$name" "^leader [^$1-]"
}

# slow_server MS TIMES: blocks the server for MS milliseconds, TIMES times
slow_server() {
	local _
	for _ in $(seq "$2"); do
		ask client pause "$1" all >"$T/out"
		sleep "$(bc <<<"scale=3; $1 / 1000")"
	done
}
