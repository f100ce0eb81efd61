#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Reading fails on demand: EIO for those positions, and the next reading of them is good.
. "${0%/*}/lib.sh"
dataset 2 8
job a tensor.crop=32
start --fault load.read:EIO:after=3:times=2

failed=0
for file in "$(epoch a)"/*.ppm; do cat "$file" >/dev/null 2>&1 || failed=$((failed + 1)); done
equal "files that failed" $failed 2
once a 16
equal "errors" "$(status_of a errors)" 2
read_epoch a || fail "a file that failed once fails for ever"
nothing_held
