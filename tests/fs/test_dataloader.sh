#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Training programs use torch's DataLoader with one path for all epochs: without workers, with new
# ones and with persistent ones, prefetching beyond the end of an epoch, drop_last, a pass over some
# batches before the training, a restart in the middle. Each epoch has each sample once, with its
# label.
. "$(dirname "$0")/lib.sh"
. "$FS/trainer.sh"
dataset 3 120 48x36
cases=(0-new 4-stay drop-new drop-stay repeat-stay sanity-new sanity-stay stop-new late-new)
for kind in folder flat; do
	layout=flat
	[[ $kind == flat ]] || layout=classes
	for case in "${cases[@]}"; do
		job "$kind-$case" tensor.crop=32 job.epochs=5 view.layout=$layout view.path="$kind/$case/train"
	done
done
job all tensor.crop=32
start

train flat-new "$M/jobs/all/current" 1
cut -d' ' -f2,3 "$T/given" | sort >"$T/all"
equal "images" "$(cut -d' ' -f1 "$T/all" | sort -u | wc -l)" 360

# train_at CASE EPOCHS [BATCHES]: trains on the path of the case below data/
train_at() {
	train "$1" "$M/data/${1/-//}/train" "${@:2}"
}

# all_once CASE EPOCH: checks that the epoch had each sample once
all_once() {
	grep "^$2 " "$T/given" | cut -d' ' -f2,3 | sort | cmp - "$T/all" || fail "$1, epoch $2"
}

for kind in folder flat; do
	for case in 0-new 4-stay sanity-new sanity-stay; do
		train_at $kind-$case 3
		for epoch in 0 1 2; do all_once $kind-$case $epoch; done
		for epoch in 0000 0001 0002; do once $kind-$case 360 $epoch; done
	done

	# A worker that fetches beyond the end may begin its next pass with a file that another
	# worker has still to open in this one, by chance (tests/unit/test_epoch_scripts.c). The
	# busier the machine is, the further apart are the workers.
	train_at $kind-repeat-stay 3
	for epoch in 0 1 2; do
		grep "^$epoch " "$T/given" | cut -d' ' -f2,3 | sort >"$T/epoch"
		given=$(uniq "$T/epoch" | wc -l)
		((given >= 345)) || fail "$kind-repeat-stay, epoch $epoch: $given of 360"
		equal "others" "$(comm -13 "$T/all" <(uniq "$T/epoch"))" ""
	done
	for case in drop-new drop-stay; do
		train_at $kind-$case 3
		for epoch in 0 1 2; do
			grep "^$epoch " "$T/given" | cut -d' ' -f2,3 | sort >"$T/epoch"
			equal "$kind-$case, samples of epoch $epoch" "$(uniq "$T/epoch" | wc -l)" 357
			equal "others" "$(comm -13 "$T/all" "$T/epoch")" ""
		done
	done

	train_at $kind-stop-new 2 10
	all_once $kind-stop-new 0
	equal "given before it was killed" "$(grep -c ^1 "$T/given")" 70
	train_at $kind-stop-new 2
	all_once "$kind-stop-new, again" 0
	once $kind-stop-new 360 0001
	all_once "$kind-stop-new, again" 1
	once $kind-stop-new 360 0002
done

train_at flat-late-new 2 40
train_at flat-late-new 2
all_once "flat-late-new, again" 0
all_once "flat-late-new, again" 1
once flat-late-new 360 0003
