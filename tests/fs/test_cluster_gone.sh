#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A node that never comes back blocks no training. A day after its last sign of life, or by an
# operator's command, its trainings may get other ranks. A training goes on with other ranks in the
# middle of an epoch, each sample once. A run under a former name says how to begin anew.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=96
dataset 2 $((N / 2)) 32x24
redis
for name in a b; do
	node $name 'ttl = 1s'
	launch $name
done

# adds NODE JOB RANK RANKS: adds a rank of the training net
adds() {
	job_text "$2" job.epochs=4 job.ranks="$4" job.rank="$3" job.training=net \
		job.global_batch=12 tensor.crop=16 >"$T/$2.ini"
	ctl_of "$1" add "$T/$2.ini" >/dev/null
}

# refused TEXT ARGUMENT...: checks that joaderctl cluster at node a refuses the arguments with TEXT
refused() {
	! ctl_of a cluster "${@:2}" >"$T/out" 2>&1 || fail "not refused: ${*:2}: $(<"$T/out")"
	grep -qF -- "$1" "$T/out" || fail "not '$1': $(<"$T/out")"
}

# There are three ranks. Node b, which has two of them, is lost in the middle of epoch 1.
adds a r0 0 3
adds b r1 1 3
adds b r2 2 3
pids=()
for rank in 0 1 2; do
	reads "$( ((rank == 0)) && echo a || echo b)" r$rank 0 0 31 &
	pids+=($!)
done
wait "${pids[@]}"
reads a r0 1 0 9
reads b r1 1 0 5
reads b r2 1 0 3
shows a 'rank net 0/3 .* committed 1:10$'
shows b 'rank net 1/3 .* committed 1:6$'
shows b 'rank net 2/3 .* committed 1:4$'
{
	samples a r0 1 0 9
	samples b r1 1 0 5
	samples b r2 1 0 3
} >"$T/had"
refused 'found 13 ranks, allowed: 1 to 12' resize net 13
refused 'no training or node other' resize other 2
refused 'usage:' resize net
refused 'ranks: found "two"' resize net two
refused 'training net runs on a, b' forget net
refused 'node a is alive' forget a
kill_node b

# Another number of ranks is refused, and the message says how to continue.
ctl_of a rm r0 >/dev/null
adds a s0 0 2
shows a 'rank net 0/2 job s0 refused: ranks: 2 here, 3 in the group'
ctl_of a cluster resize net 2 >"$T/out"
grep -q 'training net continues with ranks = 2' "$T/out" || fail "$(<"$T/out")"
adds a s1 1 2
shows a 'rank net 1/2 job s1 held'
logged 'job s1: continues at position .* of epoch 1, which .*for a new run .*cluster forget net'
equal "consumed of both" "$(ctl_of a cluster | awk -F: '/^rank/ { n += $NF } END { print n }')" 20
reads a s0 1 10 47 &
pid=$!
reads a s1 1 10 47
wait "$pid"
{
	cat "$T/had"
	samples a s0 1 10 47
	samples a s1 1 10 47
} | sort -n | uniq -c | awk '{ print $1, $2 }' >"$T/once"
equal "epoch 1, each sample once" "$(<"$T/once")" "$(seq 0 $((N - 1)) | sed 's/^/1 /')"

# Node b comes back with its former jobs: these are refused, and nothing is lost.
launch b
shows b 'job r1 refused: ranks: 3 here, 2 in the group'
reads a s0 2 0 5 &
pid=$!
reads a s1 2 0 5
wait "$pid"
refused 'training net runs on a' forget net

# Node b runs its own training, and is lost. A day after its last sign of life it runs no training.
for job in r1 r2; do ctl_of b rm $job >/dev/null; done
# old RANKS: adds a rank of the training old at node a
old() {
	job_text o job.epochs=4 job.ranks="$1" job.rank=0 job.training=old job.global_batch=12 \
		tensor.crop=16 >"$T/o.ini"
	ctl_of a add "$T/o.ini" >/dev/null
}
# again: node b runs the training with 3 ranks, and is lost; node a adds it with 2 ranks
again() {
	[[ -e $T/b/mnt/README ]] || launch b
	job_text o job.epochs=4 job.ranks=3 job.rank=0 job.training=old job.global_batch=12 \
		tensor.crop=16 >"$T/b/jobs/o.ini"
	ctl_of b add "$T/b/jobs/o.ini" >/dev/null
	shows b 'rank old 0/3 job o held'
	kill_node b
	rm -r "$T/b/jobs" "$T/b/state"
	mkdir "$T/b/jobs"
	old 2
	shows a 'rank old 0/2 job o refused: ranks: 2 here, 3 in the group'
}
again
((86000 < $(ask ttl '{joaderfs}:was:b') && $(ask ttl '{joaderfs}:was:b') <= 86400)) ||
	fail "b was live: $(ask ttl '{joaderfs}:was:b')"
ask del '{joaderfs}:was:b' >/dev/null # a day later
shows a 'rank old 0/2 job o held'
ctl_of a rm o >/dev/null
again
until ctl_of a cluster forget b >"$T/out" 2>&1; do
	grep -q 'node b is alive' "$T/out" || fail "$(<"$T/out")"
	sleep 0.2
done
shows a 'rank old 0/2 job o held'
end a
