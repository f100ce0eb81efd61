#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Eight jobs at once, with different preparations, parts and look-ahead.
. "$(dirname "$0")/lib.sh"
dataset 4 16
for k in 0 1 2 3 4 5 6 7; do
	job "job$k" tensor.resize=$((40 + k % 2 * 8)) tensor.crop=32 view.lookahead=$((1 << k)) \
		"job.where=label <= $((k % 4))"
done
start

for k in 0 1 2 3 4 5 6 7; do
	read_epoch "job$k" &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader"; done
for k in 0 1 2 3 4 5 6 7; do once "job$k" $(((k % 4 + 1) * 16)); done
nothing_held
pixels "job0 40 32" "job1 48 32" "job6 40 32" "job7 48 32"
