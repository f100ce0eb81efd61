#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: it sleeps most of the time
# A batch that does not fit into memory, because a reader holds another one open, fails with ENOMEM
# after the patience for one sample, however many samples it has. It can be read when the other
# batch is closed.
. "$(dirname "$0")/lib.sh"
dataset 1 16
config joaderfs.cache=8M joaderfs.max_pixels=10000000
job a tensor.resize=3000x3000 tensor.format=npy view.layout=batch view.batch=8
start

exec 7<"$(epoch a)/batch-000000.npy"
! cat "$(epoch a)/batch-000001.npy" >/dev/null 2>"$T/message" || fail "it was held as well"
grep -q 'Cannot allocate memory' "$T/message" || fail "$(<"$T/message")"
(($(counter retries) <= 8 * 6)) || fail "$(counter retries) times again, for 8 samples"
equal "consumed" "$(status_of a consumed)" 0
exec 7<&-
cat "$(epoch a)/batch-000001.npy" >/dev/null
once a 16
