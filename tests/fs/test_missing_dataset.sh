#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A dataset that is missing, no directory, or empty is refused, by name.
. "$(dirname "$0")/lib.sh"
refused "$D" images
touch "$D"
refused "$D"
rm "$D"
mkdir -p "$D/class0"
refused "$D"
