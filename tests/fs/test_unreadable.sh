#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A part of the dataset that can't be read at a start is not removed: jobs and their orders stay,
# and its files answer EIO until the part is back.
. "$(dirname "$0")/user.sh"
dataset 3 8
job a tensor.crop=32 job.epochs=9
start_user
for k in {0..9}; do as_user cat "$M/jobs/a/epoch-0000/0000000$k.ppm" >/dev/null; done
look() { as_user cat "$M/jobs/a/epoch-0000.order" | cut -f1-3,5; }
samples() { as_user sed -n 's/^samples *//p' "$M/datasets/images/info"; }
look >"$T/order"

# again MESSAGE: checks that the daemon logs MESSAGE after a start, and keeps all samples and
# orders
again() {
	stop
	: >"$LOG"
	start_user
	logged "$1"
	logged 'the catalogue of the last scan stays in use'
	equal "samples" "$(samples)" 24
	look | diff "$T/order" - || fail "the order is another"
}
# readable: counts the bound positions that can be read. All are read at once, because a failing
# read is repeated for some seconds.
readable() {
	local k n=0 readers=()
	for k in {0..9}; do
		as_user cat "$M/jobs/a/epoch-0000/0000000$k.ppm" >/dev/null 2>"$T/error.$k" &
		readers+=($!)
	done
	for k in {0..9}; do
		! wait "${readers[k]}" || n=$((n + 1))
		[[ ! -s $T/error.$k ]] || grep -q 'Input/output error' "$T/error.$k" ||
			fail "$(cat "$T/error.$k")"
	done
	echo $n
}
locked=$(grep -c 'class1/' "$T/order" || true)
((locked > 0 && locked < 10)) || fail "bad luck: $locked of class1"
chmod 000 "$D/class1"
again 'class1: Permission denied'
equal "files that can be read" "$(readable)" $((10 - locked))
chmod 755 "$D/class1"
equal "files that can be read again" "$(readable)" 10

mv "$D" "$D.away"
again 'No such file or directory'
equal "files that can be read" "$(readable)" 0
mkdir "$D"
again 'is empty'
rmdir "$D"
mv "$D.away" "$D"
equal "files that can be read again" "$(readable)" 10
for k in {10..23}; do as_user cat "$M/jobs/a/epoch-0000/000000$k.ppm" >/dev/null; done
equal "different samples" "$(look | cut -f2 | sort -u | wc -l)" 24
