#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Each epoch has every sample, in another order. An epoch does not begin before half of the previous
# one is read. order = sequential is the order of the dataset.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job a tensor.crop=32 job.epochs=2
job val tensor.crop=32 job.epochs=2 job.order=sequential
start

cat "$(epoch a)"/0000000[0-3].ppm >/dev/null
cat "$(epoch a 0001)/00000000.ppm" >/dev/null 2>&1 && fail "the next epoch began too early"
read_epoch a
read_epoch a 0001
once a 24
once a 24 0001
[[ $(order a | cut -f2) != "$(order a 0001 | cut -f2)" ]] || fail "two epochs in one order"
[[ $(order a | cut -f2) != "$(seq 0 23)" ]] || fail "not shuffled"
for e in 0000 0001; do
	read_epoch val $e
	equal "sequential order" "$(order val $e | cut -f2)" "$(seq 0 23)"
done
nothing_held
