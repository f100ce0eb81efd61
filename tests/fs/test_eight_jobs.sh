#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Eight jobs at once, with different preparations, parts and look-ahead: each gets each of its
# samples once, with the pixels that PIL decodes.
. "$(dirname "$0")/lib.sh"
dataset 4 16
for k in 0 1 2 3 4 5; do
	job "job$k" tensor.resize=$((40 + k % 2 * 8)) tensor.crop=32 view.lookahead=$((1 << k)) \
		"job.where=label <= $((k % 4))"
done
job whole view.lookahead=64
job upper view.lookahead=128 "job.where=label > 0"
start

for name in job{0..5} whole upper; do
	read_epoch "$name" &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader"; done
for k in 0 1 2 3 4 5; do once "job$k" $(((k % 4 + 1) * 16)); done
once whole 64
once upper 48
equal "labels of job2" "$(order job2 | cut -f3 | sort -u | xargs)" "0 1 2"
equal "labels of upper" "$(order upper | cut -f3 | sort -u | xargs)" "1 2 3"
nothing_held
pixels "job0 40 32" "job5 48 32" whole upper
