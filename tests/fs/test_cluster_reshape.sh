#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A training goes on with other ranks in the middle of an epoch: from the exports of its former
# ranks, or from an earlier position. No sample that these have read comes again, and the rest of
# the epoch has each sample once. Also twice in one epoch, with a killed node, and with an engine
# that has lost all data.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=96
dataset 2 $((N / 2)) 32x24
redis
for name in a b; do
	node $name 'ttl = 1s'
	launch $name
done

# adds NODE JOB RANK RANKS BATCH [OPTION...]: adds a rank of $training
training=net
adds() {
	job_text "$2" job.epochs=4 job.ranks="$4" job.rank="$3" job.training=$training \
		job.global_batch="$5" tensor.crop=16 >"$T/$2.ini"
	ctl_of "$1" add "${@:6}" "$T/$2.ini" >/dev/null
}

consumed() { # NODE JOB
	sed -n 's/^consumed *//p' "$T/$1/mnt/jobs/$2/status"
}

# has_read NODE JOB NUMBER: waits until NUMBER positions of the job's epoch are read, here or by
# others, because a file counts as read a moment after its close
has_read() {
	local _
	for _ in $(seq 200); do
		[[ $(consumed "$1" "$2") != "$3" ]] || return 0
		sleep 0.1
	done
	fail "$2: consumed is $(consumed "$1" "$2"), not $3: $(tail -n 5 "$LOG")"
}

refused() { # TEXT COMMAND...
	local text=$1 found
	shift
	! found=$("$@" 2>&1) || fail "$*: is not refused: $found"
	[[ $found == *"$text"* ]] || fail "$*: '$text' is not in '$found'"
}

# Three ranks have a mini-batch of nine. Ranks 0 and 1 are read unevenly, and rank 2 has not begun
# epoch 1.
adds a r0 0 3 9
adds b r1 1 3 9
adds b r2 2 3 9
pids=()
reads a r0 0 0 31 &
pids+=($!)
reads b r1 0 0 31 &
pids+=($!)
reads b r2 0 0 31
wait "${pids[@]}"
reads a r0 1 0 9
reads b r1 1 0 3
reads b r1 1 5 5
{
	samples a r0 1 0 9
	samples b r1 1 0 3
	samples b r1 1 5 5
} >"$T/read"
equal "read before" "$(wc -l <"$T/read")" 15
has_read a r0 10
has_read b r1 5
ctl_of a export r0 >"$T/r0"
ctl_of b export r1 >"$T/r1"
ctl_of b export r2 >"$T/r2"
cat "$T"/r[012] >"$T/net"
refused "continues where its training is" ctl_of a restore r0 - <"$T/a/mnt/jobs/r0/state"

# Wrong files are refused.
training=other
cat "$T"/r[02] >"$T/less"
refused "has no rank 1, allowed: all 3 ranks" adds a x 0 2 8 --import "$T/less"
cat "$T/net" "$T/r2" >"$T/more"
refused "has rank 2 twice" adds a x 0 2 8 --import "$T/more"
head -c -9 "$T/net" >"$T/short"
refused "incomplete" adds a x 0 2 8 --import "$T/short"
refused "position 10, allowed: a multiple of 9" adds a x 0 2 8 --import "$T/net" --at 1:10
refused "rank 2 has not yet read position 0 of its 3 before this place" \
	adds a x 0 2 8 --import "$T/net" --at 1:9
refused "epoch 2, allowed: up to 1" adds a x 0 2 8 --import "$T/net" --at 2:0
refused "belong to a rank, allowed" ctl_of a add --import "$T/r0" - <<-'END'
	[job]
	name = x
	dataset = images
END

training=net

# The group still has the training with three ranks, so the new rank waits until these have ended.
job_text n0 job.epochs=4 job.ranks=2 job.rank=0 job.training=net job.global_batch=8 \
	tensor.crop=16 >"$T/n0.ini"
ctl_of a rm r0 >/dev/null
ctl_of a add --import "$T/net" "$T/n0.ini" >/dev/null
logged 'job n0: ranks: 2 here, 3 in the group'
ctl_of b rm r1 >/dev/null
ctl_of b rm r2 >/dev/null
has_read a n0 8 # of 15: a whole mini-batch, and 4 samples of the next one
adds b n1 1 2 8 # it learns the place from the group
has_read b n1 7
equal "epoch" "$(sed -n 's/^epoch  *//p' "$T/b/mnt/jobs/n1/status")" 1
reads a n0 1 8 20
has_read a n0 21
kill_node a
launch a
reads a n0 1 21 30
reads b n1 1 7 17
{
	samples a n0 1 8 30
	samples b n1 1 7 17
} >>"$T/read"
equal "read twice" "$(sort "$T/read" | uniq -d)" ''

has_read a n0 31
has_read b n1 18

# The training continues with one rank, in a group whose engine has forgotten all data.
ctl_of a export n0 >"$T/n0"
ctl_of b export n1 >"$T/n1"
cat "$T"/n[01] >"$T/net2"
ctl_of b rm n1 >/dev/null
ctl_of a rm n0 >/dev/null
ask flushall >/dev/null
adds b m0 0 1 10 --import "$T/net2"
has_read b m0 49
end b
launch b
reads b m0 1 49 95
samples b m0 1 49 95 >>"$T/read"
equal "epoch 1" "$(sort -n "$T/read")" "$(seq 0 $((N - 1)))"
reads b m0 2 0 95
equal "epoch 2" "$(samples b m0 2 0 95 | sort -n)" "$(seq 0 $((N - 1)))"

# The training goes back to the first mini-batch of epoch 0 of the three ranks, with four ranks.
ctl_of b rm m0 >/dev/null
for rank in 0 1 2 3; do
	adds a k$rank $rank 4 4 --import "$T/net" --at 0:9
done
has_read a k0 3
has_read a k3 2
pids=()
for rank in 0 1 2 3; do
	reads a k$rank 0 $((rank ? 2 : 3)) 23 &
	pids+=($!)
done
wait "${pids[@]}"
for rank in 0 1 2 3; do
	samples a k$rank 0 $((rank ? 2 : 3)) 23
done | sort -n >"$T/rest"
equal "the rest" "$(wc -l <"$T/rest")" $((N - 9))
equal "twice" "$(uniq -d "$T/rest")" ''
end a
end b
