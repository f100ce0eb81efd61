# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# What tests with torch's DataLoader source after lib.sh: one process loads torch, and each
# training is a child of it, so that torch is loaded once.
#
#     train CASE DIRECTORY EPOCHS [BATCHES]    as dataloader.py says; what it was given is
#                                              in $T/given then

needs_torch
coproc TRAINER { exec "$PYTHON" "$FS/dataloader.py" 2>>"$T/trainer"; }

train() {
	local status expected=0
	(($# < 4)) || expected=137
	echo "$1 $3 ${4:-0} $T/given $2" >&"${TRAINER[1]}"
	read -r status <&"${TRAINER[0]}" || fail "no trainer: $(tail -n 20 "$T/trainer")"
	[[ $status == "$expected" ]] ||
		fail "$1 ended with $status, not $expected: $(tail -n 20 "$T/trainer")"
}
