#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A mistake in an ini: the message says where and what is allowed, nothing is mounted.
. "$(dirname "$0")/lib.sh"
dataset 2 4

daemon_ini() { # TEXT... : refused with joaderfs.ini from standard input
	cat >"$T/joaderfs.ini"
	refused joaderfs.ini "$@"
}
job_ini() {
	job bad "$1"
	shift
	refused bad.ini "$@"
	rm "$T/jobs.d/bad.ini"
}
base="[joaderfs]
state = $T/state
socket = $T/socket
jobs = jobs.d"
images="[dataset images]
path = $D"

daemon_ini cache <<<"$base"$'\n'"cache = lots"$'\n'"$images"
daemon_ini eviction refcnt lru <<<"$base"$'\n'"eviction = refcount"$'\n'"$images"
daemon_ini cahce cache <<<"$base"$'\n'"cahce = 1G"$'\n'"$images"
daemon_ini datset dataset <<<"$base"$'\n'"[datset images]"$'\n'"path = $D"
daemon_ini path <<<"$base"$'\n'"[dataset images]"
daemon_ini workers <<<"$base"$'\n'"workers = 0"$'\n'"$images"

config
job_ini tensor.crop=-1 crop
job_ini tensor.format=jpeg format ppm
job_ini job.order=suffled order shuffled
job_ini view.lookahed=5 lookahed lookahead
job_ini job.dataset=image image images
job_ini "job.where=lable < 3" lable label
job_ini "job.where=label < 0" where
rm "$T/joaderfs.ini"
"$PROGRAM" "$T/joaderfs.ini" "$M" -f 2>"$LOG" && fail "it started without an ini"
grep -q joaderfs.ini "$LOG"
