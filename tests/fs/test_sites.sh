#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A call of the daemon fails, for memory, of a file, or of an answer, wherever it is: a
# reader sees an error of what it reads just then, at most, and finds all when it reads
# again. The daemon is killed at such a call: the next one gives what readers were given.
. "$(dirname "$0")/lib.sh"
PROGRAM=$BUILD/tests/sites/joaderfs
[[ -x $PROGRAM ]] || skip "not built: $PROGRAM"
dataset 3 8
job a tensor.crop=32 job.epochs=400 view.lookahead=3 job.keep_epochs=400
job b tensor.crop=32 job.epochs=400 view.lookahead=3 job.keep_epochs=400 view.io=direct
job m tensor.crop=32 view.layout=mirror
config joaderfs.cache=1M
truncate -s 32 "$T/sites"
export JOADERFS_SITES=$T/sites JOADERCTL=$BUILD/joaderctl SOCKET=$T/socket
sites() { "$PYTHON" "$FS/sites.py" "$T/sites" "$M" "$T/told" "$@"; }

start
sites errors "$(effort 20 300)" 1
rm "$T/told"
JOB=b sites errors "$(effort 20 300)" 3
rm "$T/told"
nothing_held
sites jobs "$(effort 8 60)" 2
stop

for ((i = 0; i < $(effort 4 40); i++)); do
	start
	sites crash $((1 + i * 97 % 400)) $((1 + i % 2))
	wait "$PID" || true
	PID=
	unmount "$M"
done
