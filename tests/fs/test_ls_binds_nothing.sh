#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Listing and stat change nothing: only an open binds a position, and only this one.
. "$(dirname "$0")/lib.sh"
dataset
job a tensor.crop=32
start

ls -lR "$M" >/dev/null
find "$M" -size +1k >/dev/null
du -a "$M" >/dev/null
stat "$(epoch a)"/* >/dev/null
[[ -f $(epoch a)/00000005.ppm && ! -e $(epoch a)/00000024.ppm ]]
equal "bindings after ls" "$(order a)" ""
equal "decodes after ls" "$(counter decodes)" 0

head -c 1 "$(epoch a)/00000005.ppm" >/dev/null
equal "positions bound" "$(order a | cut -f1)" 5
