#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Four jobs at once, two of them with a part of the dataset: each gets each of its samples once,
# with the pixels that PIL decodes.
. "$(dirname "$0")/lib.sh"
dataset 4 12
job a
job b
job c "job.where=label < 3"
job d "job.where=label > 0"
start

for name in a b c d; do
	read_epoch $name &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader"; done
once a 48
once b 48
once c 36
once d 36
equal "labels of c" "$(order c | cut -f3 | sort -u | xargs)" "0 1 2"
nothing_held
pixels a b c d
