#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# A rank moves to another daemon and returns in the same epoch. A reader that waits there at its
# former position, with samples that came before, gets the samples that follow those of the other
# daemon.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
dataset 2 20 48x36
redis
pair 'ttl = 1s' tensor.crop=32
shows a '^member b '

# committed POSITION: waits until the group knows that the rank has read up to POSITION
committed() {
	local _
	for _ in $(seq 400); do
		[[ $(ask hget '{joaderfs}:cur:net' 1) != "0:$1" ]] || return 0
		sleep 0.05
	done
	fail "the cursor is $(ask hget '{joaderfs}:cur:net' 1), not 0:$1"
}

# order NODE FIRST LAST: prints position and sample of these positions
order() {
	awk -v first="$2" -v last="$3" '$1 >= first && $1 <= last { print $1, $2 }' \
		"$T/$1/mnt/jobs/r1/epoch-0000.order" | sort -n
}

reads b r1 0 0 1
committed 2
kill -STOP "${PIDS[b]}"
rank a 1 tensor.crop=32
ctl_of a add "$T/a/jobs/r1.ini" >"$T/out"
shows a '^rank net 1/2 job r1 held'
reads a r1 0 2 7
committed 8
order a 0 7 >"$T/given"
kill -CONT "${PIDS[b]}"
shows b '^rank net 1/2 job r1 waits'
reads b r1 0 8 8 &
reader=$!
sleep 0.5 # the reader has to wait, however long this is
equal "what b gave meanwhile" "$(order b 2 19)" ""
ctl_of a rm r1 >"$T/out"
wait "$reader" || fail "the reader that waited got nothing"
reads b r1 0 9 19
equal "what a gave, at b" "$(order b 0 7)" "$(<"$T/given")"
equal "samples of the rank" "$(order b 0 19 | cut -d' ' -f2 | sort -u | wc -l)" 20
