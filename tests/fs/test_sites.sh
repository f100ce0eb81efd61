#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A call of the daemon fails, wherever it is: for memory, of a file, or of an answer. A reader gets
# at most an error of its current read, and finds all samples when it reads again. The engine is
# killed at such a call: readers get no error at all.
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
! grep -q "a new engine takes over" "$LOG" || fail "an engine ended"
sites crashes "$(effort 12 300)" 4
JOB=b sites crashes "$(effort 12 300)" 5
nothing_held
