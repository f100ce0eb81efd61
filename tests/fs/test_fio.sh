#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# fio reads a file in pieces of odd sizes, in and out of order.
. "$(dirname "$0")/lib.sh"
command -v fio >/dev/null || skip "fio is not installed"
dataset 2 4 640x480
job a
start

cp "$(epoch a)/00000000.ppm" "$T/copy"
for pattern in read randread; do
	fio --name=$pattern --filename="$(epoch a)/00000000.ppm" --readonly --rw=$pattern \
		--bs=7001 --loops=3 --numjobs=4 --group_reporting >"$T/fio" || fail "$(cat "$T/fio")"
	grep -q 'err= 0' "$T/fio" || fail "$(cat "$T/fio")"
done
cmp "$(epoch a)/00000000.ppm" "$T/copy"
once_bound=$(order a | wc -l)
equal "positions bound" "$once_bound" 1
