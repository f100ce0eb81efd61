#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A reader that is killed while its open waits ends at once. The position keeps its sample, and the
# other readers get theirs.
. "$(dirname "$0")/lib.sh"
dataset 1 6
job a tensor.resize=64 tensor.crop=64
start --fault "load.read:NONE:until=$T/go"

for position in 0 1 2 3 4 5; do
	cat "$(epoch a)/0000000$position.ppm" >"$T/$position" &
	reader[position]=$!
done
for _ in $(seq 1000); do
	(($(status_of a bound) == 6)) && break
	sleep 0.01
done
for position in 4 5; do
	kill -KILL "${reader[position]}"
	wait "${reader[position]}" || true
done
(($(counter interrupts) > 0)) || fail "no open was interrupted"
touch "$T/go"
for position in 0 1 2 3; do wait "${reader[position]}"; done
equal "consumed" "$(status_of a consumed)" 4
read_epoch a
once a 6
nothing_held
