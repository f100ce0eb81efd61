#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The file with the order of an ended epoch can't be read for a while: only readers that open this
# epoch's files, or ask for their sizes, wait.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job a job.epochs=2 view.size=exact
job b tensor.crop=32
start
read_epoch a
cat "$(epoch b)"/*.ppm "$(epoch a 0001)/00000000.ppm" >/dev/null
order=$T/state/jobs/a/epoch-0000.order
for _ in $(seq 100); do
	[[ ! -e $order ]] || break
	sleep 0.05
done
mv "$order" "$order.kept"
mkfifo "$order" # who opens it for reading waits for a writer

before=$(counter requests)
waiting=()
for position in {10..19}; do
	cat "$(epoch a)/000000$position.ppm" >"$T/$position" &
	waiting+=($!)
	stat "$(epoch a)/000000$position.ppm" >/dev/null &
	waiting+=($!)
done
for _ in $(seq 100); do
	(($(counter requests) < before + 20)) || break
	sleep 0.05
done
timeout 60 bash -c "cat '$(epoch b)'/*.ppm '$M/stats' >/dev/null" || fail "the other reader waits"
mv "$order.kept" "$order.new"
exec 9<>"$order" # those that have it open find that it is not whole, or an end of file
mv "$order.new" "$order"
exec 9>&-
wait "${waiting[@]}" || true
cat "$(epoch a)"/*.ppm >/dev/null
