#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A cache for one tensor, or for less: reading is slow, but all readers get all samples.
. "$(dirname "$0")/lib.sh"
dataset 3 8
for name in a b c; do job $name tensor.resize=48 tensor.crop=32; done
for cache in $((32 * 32 * 3)) 1; do
	config joaderfs.cache=$cache joaderfs.state="$T/state$cache"
	start
	readers=()
	for name in a b c; do
		read_epoch $name &
		readers+=($!)
	done
	for reader in "${readers[@]}"; do wait "$reader"; done
	for name in a b c; do once $name 24; done
	nothing_held
	pixels "a 48 32"
	stop
done
