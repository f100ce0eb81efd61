#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Scripts that are likely to get other samples than they expect: each gets each sample once per
# epoch, or joaderfs notices this, and warns once in the log and in status. Exact scripts get no
# warning.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 3 80 48x36

# view NAME LAYOUT [OPTION...]: writes the ini of a job
view() {
	job "$1" tensor.crop=32 job.epochs="${EPOCHS:-400}" view.layout="$2" "${@:3}"
}
for name in late-flat shuffled-flat looked-flat two-readers ddp-flat; do view $name flat; done
for name in split-flat subset-flat labels-drawn mixing-flat kept-flat early-flat; do view $name flat; done
for name in looked two ddp split folds mixing; do
	view $name-classes classes view.mapping=fresh
	view $name-fixed classes
done
view replaced-fixed classes
view padded-fixed classes
for layout in flat classes; do view sequential-$layout $layout job.order=sequential; done
for name in labels-fixed labels-fixed-in-order; do view $name flat view.labels=fixed; done
view tiny-one batch view.batch=240
view tiny-two tar view.shard=120
view tiny-three batch view.batch=80
view tiny-explicit batch view.batch=240
EPOCHS=2 view few-flat flat
for n in 1 2 3; do view tiny-$n-flat flat "job.where=id < $n"; done
view tiny-numbers-flat flat "job.where=id < 1"
view refused-flat flat job.second_script=refused "job.where=label = 0"
view all mirror
start

exact=(sequential tiny_epochs tiny_explicit look_at_late_epoch looked_flat looked_classes two_scripts
	ddp_flat ddp_classes labels_fixed shuffle_persistent label_and_image
	split_fixed folds_fixed mixing_fixed mixing_flat mixing_classes subset replaced_fixed padded_fixed
	second_refused)
# Cases in which scripts get other samples than they expect, with the job and its notice.
declare -A noticed=(
	[beyond_epochs]="few-flat: raise .epochs."
	[split_classes]="split-classes: where = hash.path. % 5"
	[split_flat]="split-flat: where = hash.path. % 5"
	[folds_by_index]="folds-classes: where = hash.path. % 5"
	[labels_drawn]="labels-drawn: labels differ from epoch to epoch"
	[kept_open]="kept-flat: stay open"
)
wrong=(split_flat split_classes folds_by_index labels_drawn kept_open)
PYTHONWARNINGS=ignore "$PYTHON" "$FS/misuse.py" "$M/jobs" "${exact[@]}" "${!noticed[@]}" \
	>"$T/well" 2>"$T/wrong" || fail "$(<"$T/wrong")"
for case in "${exact[@]}"; do
	grep -qx "$case" "$T/well" || fail "not exact: $(<"$T/wrong")"
done
for case in "${wrong[@]}"; do
	! grep -qx "$case" "$T/well" || fail "$case is exact: the manual says that it is not"
done

# A script opens an explicit epoch too early, and tries again and again.
cat "$(epoch early-flat)/00000000.ppm" >/dev/null
for _ in 1 2 3; do
	! cat "$(epoch early-flat 0001)/00000000.ppm" 2>"$T/early" || fail "epoch 1 is there"
	grep -q "temporarily unavailable" "$T/early" || fail "too early: $(<"$T/early")"
done
noticed[early]="early-flat: give each script a job of its own"
noticed[second]="refused-flat: two scripts read current/"

# said JOB TEXT: checks that the notice is in the log once, with the epoch and the number of its
# samples, and in status, and that ls marks the job
said() {
	equal "lines about $1" "$(grep -c "job $1: epoch" "$LOG")" 1
	grep -q "job $1: epoch [0-9]*: .*$2.* ([0-9]* of [28][40]* samples of epoch [0-9]* " "$LOG" ||
		fail "of $1 is not said '$2': $(grep "job $1:" "$LOG")"
	status_of "$1" notice | grep -q "$2" || fail "status of $1: $(status_of "$1" notice)"
	grep -q "^$1! " "$T/ls" || fail "$1 has no mark: $(<"$T/ls")"
}
ctl ls >"$T/ls"
for text in "${noticed[@]}"; do said "${text%%: *}" "${text#*: }"; done
for directory in "$M"/jobs/*/; do
	name=$(basename "$directory")
	[[ " ${noticed[*]} " == *" $name: "* ]] ||
		equal "notices of $name" "$(status_of "$name" notice | sed '/^two scripts/d')" ""
	# The speed of the two scripts of two-classes decides whether they get an epoch apart.
	[[ $name == @(two-classes|refused-flat) || $(status_of "$name" notice) != "two scripts"* ]] ||
		fail "a second script was noticed at $name"
done
(($(counter notices) >= ${#noticed[@]})) || fail "notices: $(counter notices)"
