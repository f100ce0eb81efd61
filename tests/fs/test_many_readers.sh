#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Sixteen readers of one view, each of a part as the workers of a DataLoader, and each of all files:
# all get the same bytes, and every sample comes once.
. "$(dirname "$0")/lib.sh"
dataset 4 16
job a tensor.crop=32
start

for k in $(seq 0 15); do
	(for p in $(seq "$k" 16 63); do cat "$(epoch a)/$(printf %08d "$p").ppm"; done >/dev/null) &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader"; done
once a 64
readers=()
for k in $(seq 0 15); do
	(cd "$(epoch a)" && md5sum ./*.ppm >"$T/sums$k") &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader"; done
for k in $(seq 1 15); do cmp "$T/sums0" "$T/sums$k"; done
once a 64
nothing_held
