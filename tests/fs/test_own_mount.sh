#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A dataset that lies on the mount point itself, or on another joaderfs, is refused.
. "$(dirname "$0")/lib.sh"
dataset 2 4
job a tensor.crop=32
config
sed -i "s|^path = .*|path = $M/data|" "$T/joaderfs.ini"
mkdir "$M/data"
refused "$M"
rmdir "$M/data"
