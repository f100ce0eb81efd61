#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Without root: mounts through fusermount3, and keeps its state below XDG_STATE_HOME.
. "$(dirname "$0")/user.sh"
[[ -e /etc/mtab ]] || skip "no /etc/mtab here: fusermount3 can't unmount without it"
dataset 2 4
job a tensor.crop=32
start_user
equal "files" "$(as_user bash -c "cat '$(epoch a)'/*.cls | wc -w")" 8
as_user bash -c "cat '$(epoch a)'/*.ppm | wc -c" | grep -qx $((8 * (13 + 32 * 32 * 3)))
[[ -d $T/home/state/joaderfs ]] || fail "no state below XDG_STATE_HOME"
stop
