#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Random training programs read current/: no pass has a sample twice, and joaderfs warns of nothing.
. "$(dirname "$0")/lib.sh"
needs_torch
TRIALS=$(effort 40 400)
dataset 3 16 48x36
FOLDS=$(effort 16 160)
for ((i = 0; i < TRIALS + FOLDS; i++)); do
	if ((i % 2)); then
		job t$i tensor.crop=32 job.epochs=400 view.layout=flat
	else
		job t$i tensor.crop=32 job.epochs=400 view.layout=classes view.mapping=fresh
	fi
done
start
# exact FIRST NUMBER [KIND]: runs random_scripts.py, and checks that all passes are exact
exact() {
	PYTHONWARNINGS=ignore "$PYTHON" "$FS/random_scripts.py" "$M/jobs" "$1" "$2" "${SEED:-1}" "${@:3}" \
		>"$T/found" || fail "$(<"$T/found")"
	tail -n 1 "$T/found"
	! grep ^SILENT "$T/found" || fail "nothing is said of these"
}
exact 0 "$TRIALS"
exact "$TRIALS" "$FOLDS" folds
