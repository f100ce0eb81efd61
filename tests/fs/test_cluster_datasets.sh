#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Datasets come, change and go while daemons are nodes of a group. Nodes with the same samples
# prepare each sample once; a node with other samples prepares its own; the dataset of a training
# can't change.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 4
images=$D
D=$T/more dataset 2 24
N=48
printf 'the nodes of this cluster know this\n' >"$T/secret"
chmod 600 "$T/secret"
redis --appendonly no
for name in a b; do D=$images node $name 'ttl = 2s' 'listen = 127.0.0.1:0' "secret = $T/secret"; done
launch a
launch b
meet

on_both() { # ARGUMENT...: joaderctl of each node
	local name
	for name in a b; do ctl_of $name "$@" >"$T/said" 2>&1 || fail "$name: $* says $(<"$T/said")"; done
}
samples() { sed -n 's/^samples *//p' "$T/$1/mnt/datasets/more/info"; }
fetched() { echo $(($(of a samples_fetched) + $(of b samples_fetched))); }
decoded() { echo $(($(of a decodes) + $(of b decodes))); }
range() { seq 0 $(($1 - 1)); }

# shared JOB EPOCH N: lets both nodes read the N samples of the epoch, and checks that each was
# prepared once
shared() {
	local before
	before=$(decoded)
	both sums "$1" "$2" "$(range "$3")"
	cmp "$T/out.a" "$T/out.b" || fail "$1: the nodes give other samples"
	equal "$1, epoch $2: decodes" $(($(decoded) - before)) "$3"
}

# --- a dataset is added
printf '[dataset more]\npath = %s\n' "$T/more" >"$T/more.ini"
on_both dataset add "$T/more.ini"
job_text own job.dataset=more job.epochs=99 tensor.resize=64 tensor.crop=48 view.lookahead=8 >"$T/own.ini"
on_both add "$T/own.ini"
shared own 0 $N
equal "fetched" "$(fetched)" $N

# --- ranks of a training read the dataset, which then can't change
# shellcheck disable=SC2034 # for rank
RANKS=2
for number in 0 1; do
	name=a
	((number == 0)) || name=b
	rank $name $number job.dataset=more tensor.resize=40 view.lookahead=8
	mv "$T/$name/jobs/r$number.ini" "$T/r$number.ini"
	ctl_of $name add "$T/r$number.ini" >/dev/null
done
before=$(decoded)
of_rank() { sums "$1" "$([[ $1 == a ]] && echo r0 || echo r1)" 0 "$(range $((N / 2)))"; }
both of_rank
equal "samples of the training" "$(cut -d' ' -f1 "$T/out.a" "$T/out.b" | sort -u | wc -l)" $N
equal "decodes for the training" $(($(decoded) - before)) $N
on_both dataset rescan more # there is no change
cp "$T/more/class0/0003.jpg" "$T/more/class1/new.jpg"
for name in a b; do
	! ctl_of $name dataset rescan more >"$T/said" 2>&1 || fail "the dataset of a training was scanned"
	grep -q 'job r[01] is a rank of a training' "$T/said" || fail "$(<"$T/said")"
	equal "samples on $name" "$(samples $name)" $N
done
ctl_of a rm r0 >/dev/null
ctl_of b rm r1 >/dev/null

# --- only one node has the new sample: each node prepares its own samples
ctl_of a dataset rescan more >"$T/said" || fail "$(<"$T/said")"
equal "samples on a" "$(samples a)" $((N + 1))
equal "samples on b" "$(samples b)" $N
before=$(fetched)
sums a own 1 "$(range $((N + 1)))" >"$T/out.a"
sums b own 1 "$(range $N)" >"$T/out.b"
equal "different samples on a" "$(cut -d' ' -f1 "$T/out.a" | sort -u | wc -l)" $((N + 1))
join "$T/out.a" "$T/out.b" | awk '$2 != $3' | (! grep .) || fail "the nodes have other images"
equal "fetched of other samples" "$(($(fetched) - before))" 0

# --- both nodes have the new sample, also after a crash
ctl_of b dataset rescan more >"$T/said" || fail "$(<"$T/said")"
job_text all job.dataset=more job.epochs=99 tensor.resize=48 view.lookahead=8 >"$T/all.ini"
on_both add "$T/all.ini"
shared all 0 $((N + 1))
kill_node a
launch a
meet
equal "samples on a after its death" "$(samples a)" $((N + 1))
job_text late job.dataset=more job.epochs=99 tensor.resize=56 view.lookahead=8 >"$T/late.ini"
on_both add "$T/late.ini"
both sums late 0 "$(range $((N + 1)))"
cmp "$T/out.a" "$T/out.b"

# --- the dataset is removed
for job in own all late; do on_both rm $job; done
on_both dataset rm more
for name in a b; do
	equal "datasets of $name" "$(names "$T/$name/mnt/datasets")" images
	end $name
done
