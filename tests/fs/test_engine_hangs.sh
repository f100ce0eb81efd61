#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# An engine that is alive but hangs is killed, and another one takes over.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 2 8
job a tensor.crop=32
start --fault "sched.house:NONE:after=1:until=$T/go" --fault supervisor.patience:EAGAIN
before=$(engine)
cat "$(epoch a)/00000000.ppm" >"$T/first"
status=0
(another_engine "$before") || status=$?
touch "$T/go" # also for one that would not end
((status == 0)) || fail "it is left as it is"
grep -q "the engine hung .*; a new engine takes over" "$LOG" || fail "the log does not say it"
cmp "$T/first" "$(epoch a)/00000000.ppm"
read_epoch a
once a 16
nothing_held
