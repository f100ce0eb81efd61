#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Two daemons that listen for each other prepare each sample once, also by a program, for separate
# jobs and for the ranks of a training. Their files equal those of a single daemon. A daemon
# prepares a sample itself when the other one is killed, has no job with the same preparation, or
# has another secret. An address that nobody can reach is refused.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=96
dataset 2 $((N / 2))
for secret in one other; do
	printf 'the nodes of %s cluster know this\n' $secret >"$T/$secret"
	chmod 600 "$T/$secret"
done

# a program whose arrays are no images; it runs as nobody, and the daemons as root
chmod 755 "$T"
cat >"$T/program.py" <<'END'
import numpy
def prepare(data, name):
    return numpy.array([len(data), sum(data), len(name)], numpy.float64)
END
# shellcheck disable=SC2034 # for node
DATASET_LINES="[preparation p]
command = $PYTHON $ROOT/tools/prepare/joaderfs_prepare.py $T/program.py
shape = 3
dtype = float64"

redis --appendonly no

same() {
	cmp "$1" "$2" || fail "files differ from those of a daemon alone: $(diff "$1" "$2" | head -5)"
}

# --- a single daemon makes the expected files
node alone
job_text plain job.epochs=9 tensor.resize=64 tensor.crop=48 >"$T/alone/jobs/plain.ini"
job_text late job.epochs=9 tensor.resize=48 view.lookahead=8 >"$T/alone/jobs/late.ini"
job_text program job.epochs=9 tensor.prepare=p view.extension=ppm >"$T/alone/jobs/program.ini"
launch alone
sums alone plain 0 "$(seq 0 $((N - 1)))" >"$T/expected"
sums alone late 0 "$(seq 0 $((N - 1)))" >"$T/expected.late"
sums alone program 0 "$(seq 0 $((N - 1)))" >"$T/expected.program"
end alone

# --- each daemon has its own job
for node in a b; do
	node $node 'ttl = 2s' 'listen = 127.0.0.1:0' "secret = $T/one"
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

# --- by a program
for node in a b; do
	job_text program job.epochs=9 tensor.prepare=p view.extension=ppm view.lookahead=8 |
		ctl_of $node add - >/dev/null
done
both sums program 0 "$(seq 0 $((N - 1)))"
same "$T/expected.program" "$T/out.a"
same "$T/expected.program" "$T/out.b"
equal "decodes with a program" "$(($(of a decodes) + $(of b decodes)))" $((2 * N))
equal "fetched with a program" "$(($(of a samples_fetched) + $(of b samples_fetched)))" $((2 * N))

# --- one daemon stops, or is killed, while the other one fetches: the other one continues
# goes SIGNAL JOB EXIF: sends SIGNAL to b while a fetches samples of the job
goes() {
	local fetched failures reader
	for node in a b; do
		job_text "$2" job.epochs=9 tensor.resize=48 tensor.exif="$3" view.lookahead=8 >"$T/job.ini"
		ctl_of "$node" add "$T/job.ini" >/dev/null
	done
	fetched=$(of a samples_fetched)
	failures=$(of a fetch_failures)
	sums a "$2" 0 "$(seq 0 $((N - 1)))" >"$T/out.a" &
	reader=$!
	until (($(of a samples_fetched) > fetched + 4)); do sleep 0.01; done
	kill -"$1" "${PIDS[b]}"
	wait "$reader" || fail "a reader failed"
	same "$T/expected.late" "$T/out.a"
	(($(of a fetch_failures) > failures)) || fail "all of it was fetched before"
	kill_node b
}
goes STOP stopped ignore
launch b
meet
goes KILL killed apply

# --- it comes back without the job: a prepares the samples that b refuses
launch b
meet
job_text later job.epochs=9 tensor.resize=32 view.lookahead=8 >"$T/later.ini"
ctl_of a add "$T/later.ini" >/dev/null
before=$(of a decodes)
failures=$(of a fetch_failures)
sums a later 0 "$(seq 0 $((N - 1)))" >"$T/later"
equal "decoded without a job there" "$(($(of a decodes) - before))" $N
(($(of a fetch_failures) > failures)) || fail "it was not asked"
end a
end b

# --- ranks of a training
rm -rf "$T"/[ab]/state "$T"/[ab]/jobs/*
# shellcheck disable=SC2034 # for rank
RANKS=2
rank a 0 tensor.resize=64 tensor.crop=48 view.lookahead=8
rank b 1 tensor.resize=64 tensor.crop=48 view.lookahead=8
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
node a 'ttl = 2s' 'listen = 127.0.0.1:0' "secret = $T/one"
node b 'ttl = 2s' 'listen = 127.0.0.1:0' "secret = $T/other"
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
node a 'ttl = 2s' 'listen = 0.0.0.0:0' "secret = $T/one"
! "$PROGRAM" --no-supervisor "$T/a/joaderfs.ini" "$T/a/mnt" -f >"$T/out" 2>&1 || fail "it listens everywhere"
grep -q 'advertise: found no route to the engine, .*allowed: the address or name at which' "$T/out" || fail "$(<"$T/out")"
