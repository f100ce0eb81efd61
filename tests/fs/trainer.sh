# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# Trainings with torch's DataLoader. Sourced after lib.sh. One process loads torch, and each training
# is its child, so that torch is loaded once.
#
#     train CASE DIRECTORY EPOCHS [BATCHES]    runs a training, see dataloader.py, which writes the
#                                              samples that it got to $T/given

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
