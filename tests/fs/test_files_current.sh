#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Batches and shards of current/: repeated reads give one epoch after the other, each sample once
# per epoch, with labels that belong to the images, and never bytes of an earlier epoch from the
# kernel's cache.
. "$(dirname "$0")/lib.sh"
dataset 4 40
size=(tensor.resize=24 tensor.crop=16)
job batch "${size[@]}" view.layout=batch view.batch=16 job.epochs=3
job held "${size[@]}" view.layout=batch view.batch=16 job.epochs=3
job crops tensor.resize=24 augment.random_crop=16 view.layout=batch view.batch=16 job.epochs=3 \
	job.order=sequential # position = sample
job tar "${size[@]}" view.layout=tar view.shard=50 job.epochs=3
job cached "${size[@]}" tensor.format=npy view.io=cached job.epochs=3
job flat "${size[@]}" tensor.format=npy job.order=sequential
# Each layout with the defaults of all keys. (batch has no defaults of batch, resize and crop.)
for layout in flat classes mirror tar; do job least-$layout view.layout=$layout; done
start
read_epoch flat # position = sample

"$PYTHON" "$FS/current_files.py" "$M/jobs"
for name in batch tar cached; do
	for epoch in 0000 0001 0002; do once $name 160 $epoch; done
	equal "orders of $name that are alike" \
		"$(for e in 0 1 2; do order $name 000$e | sort -n | cut -f2 | md5sum; done | sort -u | wc -l)" 3
done
for layout in flat classes mirror tar; do
	find "$M/jobs/least-$layout/current" -type f -exec cat {} + >/dev/null ||
		fail "$layout: current/ can't be read"
done
