#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Four jobs that read the same data in batches, step by step, with a cache for one batch, draw the
# same samples. Each job gets every sample once, and the counters agree with the order files.
. "$(dirname "$0")/lib.sh"
dataset 4 60
batch=16
config joaderfs.cache=$((batch * 32 * 32 * 3))
for name in a b c d; do
	job $name tensor.crop=32 view.layout=batch view.batch=$batch
done
start

for k in $(seq -f %06g 0 $((240 / batch - 1))); do
	for name in a b c d; do
		cat "$(epoch $name)/batch-$k.npy" >/dev/null &
		readers+=($!)
	done
	for reader in "${readers[@]}"; do wait "$reader"; done
	readers=()
done
for name in a b c d; do
	once $name 240
	for how in decoded hit shared; do
		equal "$name $how" "$(status_of $name $how)" "$(order $name | cut -f4 | grep -cx $how)"
	done
done
nothing_held
equal "samples served" "$(counter samples_served)" 960
decodes=$(counter decodes)
((decodes <= 640)) || fail "$decodes decodes of 240 samples for four jobs"
