#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Two daemons that listen for each other prepare each sample once, for jobs of their own and
# for the ranks of a training, and their files are those of a daemon that is alone. What the
# other one can't give is prepared here: when it is killed in the middle, has no job with the
# same preparation, or another secret. An address that nobody can reach is refused.
. "$(dirname "$0")/lib.sh"
command -v redis-server >/dev/null || skip "no redis-server"
pkg-config --exists hiredis || skip "built without hiredis"
ulimit -c 0
N=96
dataset 2 $((N / 2))
for secret in one other; do
	printf 'the nodes of %s cluster know this\n' $secret >"$T/$secret"
	chmod 600 "$T/$secret"
done

redis-server --port 0 --unixsocket "$T/redis" --dir "$T" --save '' --appendonly no \
	--daemonize no >"$T/redis.log" 2>&1 &
until redis-cli -s "$T/redis" ping >/dev/null 2>&1; do sleep 0.02; done

# ini NAME [CLUSTER-LINE...]: with a [cluster] if there are lines
ini() {
	local name=$1
	shift
	mkdir -p "$T/$name/mnt" "$T/$name/jobs"
	{
		printf '[joaderfs]\ncache = 64M\nseed = %d\nstate = %s/state\njobs = jobs\n' $RANDOM "$T/$name"
		printf 'socket = %s/socket\n[dataset images]\npath = %s\n' "$T/$name" "$D"
		(($# == 0)) || printf '[cluster]\nengine = redis+unix://%s\nnode = %s\nttl = 2s\n' "$T/redis" "$name"
		(($# == 0)) || printf '%s\n' "$@"
	} >"$T/$name/joaderfs.ini"
}

declare -A pid
launch() {
	"$PROGRAM" --no-supervisor "$T/$1/joaderfs.ini" "$T/$1/mnt" -f >>"$LOG" 2>&1 &
	pid[$1]=$!
	until [[ -e $T/$1/mnt/README ]]; do
		kill -0 "${pid[$1]}" || fail "$1 has ended: $(<"$LOG")"
		sleep 0.02
	done
}

end() {
	kill -TERM "${pid[$1]}"
	wait "${pid[$1]}" || fail "$1 ended with $?: $(<"$LOG")"
}

# of NODE COUNTER
of() {
	sed -n "s/^$2 //p" "$T/$1/mnt/stats"
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

# Each knows where the other one listens now.
meet() {
	shows a '^member a 127.0.0.1:'
	shows b '^member b 127.0.0.1:'
	shows a "$("$BUILD/joaderctl" --socket "$T/b/socket" cluster | grep -o '^member b [0-9.:]*')\b"
	shows b "$("$BUILD/joaderctl" --socket "$T/a/socket" cluster | grep -o '^member a [0-9.:]*')\b"
}

# sums NODE JOB EPOCH POSITIONS: sample and checksum of each file that is read
sums() {
	local at=$T/$1/mnt/jobs/$2/epoch-000$3 k sum
	for k in $4; do
		sum=$(timeout 60 cat "$at/$(printf %08d "$k").ppm" | md5sum) || return 1
		echo "$k $sum" | cut -d' ' -f1,2
	done | sort -k1,1 >"$T/read.$1"
	cut -f1,2 "$at.order" | tr '\t' ' ' | sort -k1,1 | join -o 1.2,2.2 - "$T/read.$1" | sort -n
}

# both FUNCTION...: in a process for each node; what they print is in $T/out.NODE
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

same() {
	cmp "$1" "$2" || fail "files differ from those of a daemon alone: $(diff "$1" "$2" | head -5)"
}

# --- alone: what the files are
ini alone
job_text plain job.epochs=9 tensor.resize=64 tensor.crop=48 >"$T/alone/jobs/plain.ini"
job_text late job.epochs=9 tensor.resize=48 view.lookahead=8 >"$T/alone/jobs/late.ini"
launch alone
sums alone plain 0 "$(seq 0 $((N - 1)))" >"$T/expected"
sums alone late 0 "$(seq 0 $((N - 1)))" >"$T/expected.late"
end alone

# --- jobs of their own
for node in a b; do
	ini $node 'listen = 127.0.0.1:0' "secret = $T/one"
	job_text plain job.epochs=9 tensor.resize=64 tensor.crop=48 view.lookahead=8 >"$T/$node/jobs/plain.ini"
done
launch a
launch b
meet
both sums plain 0 "$(seq 0 $((N - 1)))"
same "$T/expected" "$T/out.a"
same "$T/expected" "$T/out.b"
equal "decodes" "$(($(of a decodes) + $(of b decodes)))" $N
equal "fetched" "$(($(of a samples_fetched) + $(of b samples_fetched)))" $N
equal "given by a" "$(of a samples_given)" "$(of b samples_fetched)"
equal "failures" "$(of a fetch_failures) $(of b fetch_failures)" "0 0"
(($(of a samples_fetched) > 0 && $(of b samples_fetched) > 0)) || fail "one of them is home of all"
bytes=$((48 * 48 * 3))
shows a "^member b .* in $(($(of a samples_fetched) * bytes)) out $(($(of a samples_given) * bytes))$"

# --- one stops, or is killed, in the middle: the other one goes on
# goes SIGNAL JOB EXIF: b, while a fetches samples of the job
goes() {
	local fetched failures reader
	for node in a b; do
		job_text "$2" job.epochs=9 tensor.resize=48 tensor.exif="$3" view.lookahead=8 >"$T/job.ini"
		"$BUILD/joaderctl" --socket "$T/$node/socket" add "$T/job.ini" >/dev/null
	done
	fetched=$(of a samples_fetched)
	failures=$(of a fetch_failures)
	sums a "$2" 0 "$(seq 0 $((N - 1)))" >"$T/out.a" &
	reader=$!
	until (($(of a samples_fetched) > fetched + 4)); do sleep 0.01; done
	kill -"$1" "${pid[b]}"
	wait "$reader" || fail "a reader failed"
	same "$T/expected.late" "$T/out.a"
	(($(of a fetch_failures) > failures)) || fail "all of it was fetched before"
	kill -KILL "${pid[b]}" 2>/dev/null || true
	wait "${pid[b]}" 2>/dev/null || true
	umount -l "$T/b/mnt"
}
goes STOP stopped ignore
launch b
meet
goes KILL killed apply

# --- it comes back and has no such job: what it refuses is prepared here
launch b
meet
job_text later job.epochs=9 tensor.resize=32 view.lookahead=8 >"$T/later.ini"
"$BUILD/joaderctl" --socket "$T/a/socket" add "$T/later.ini" >/dev/null
before=$(of a decodes)
failures=$(of a fetch_failures)
sums a later 0 "$(seq 0 $((N - 1)))" >"$T/later"
equal "decoded without a job there" "$(($(of a decodes) - before))" $N
(($(of a fetch_failures) > failures)) || fail "it was not asked"
end a
end b

# --- ranks of a training
rm -rf "$T"/[ab]/state "$T"/[ab]/jobs/*
rank=0
for node in a b; do
	job_text "r$rank" job.epochs=9 job.ranks=2 job.rank=$rank job.training=net job.global_batch=8 \
		tensor.resize=64 tensor.crop=48 view.lookahead=8 >"$T/$node/jobs/r$rank.ini"
	rank=$((rank + 1))
done
launch a
launch b
meet
ranks() {
	local job=r0
	[[ $1 == a ]] || job=r1
	sums "$1" "$job" 0 "$(seq 0 $((N / 2 - 1)))"
	timeout 60 cat "$T/$1/mnt/jobs/$job"/epoch-0001/*.ppm >/dev/null
	timeout 60 cat "$T/$1/mnt/jobs/$job"/epoch-0002/*.ppm >/dev/null
}
both ranks
sort -n "$T/out.a" "$T/out.b" >"$T/out"
same "$T/expected" "$T/out"
equal "decodes for ranks" "$(($(of a decodes) + $(of b decodes)))" $N
end a
end b

# --- another secret
rm -rf "$T"/[ab]/state "$T"/[ab]/jobs/*
ini a 'listen = 127.0.0.1:0' "secret = $T/one"
ini b 'listen = 127.0.0.1:0' "secret = $T/other"
for node in a b; do
	job_text plain tensor.resize=64 tensor.crop=48 view.lookahead=8 >"$T/$node/jobs/plain.ini"
done
launch a
launch b
meet
both sums plain 0 "$(seq 0 $((N - 1)))"
same "$T/expected" "$T/out.a"
same "$T/expected" "$T/out.b"
equal "decodes with another secret" "$(of a decodes) $(of b decodes)" "$N $N"
grep -q 'secret' "$LOG" || fail "no line about the secret: $(<"$LOG")"
end a
end b

# --- what is refused
ini a 'listen = 0.0.0.0:0' "secret = $T/one"
! "$PROGRAM" --no-supervisor "$T/a/joaderfs.ini" "$T/a/mnt" -f >"$T/out" 2>&1 || fail "it listens everywhere"
grep -q 'listen: found "0.0.0.0:0", allowed: the address at which' "$T/out" || fail "$(<"$T/out")"
