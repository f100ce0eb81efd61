#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The README's training script: a DataLoader with workers, two epochs, each sample once.
. "${0%/*}/lib.sh"
needs_torch
dataset 3 16
job a tensor.resize=40 tensor.crop=32 job.epochs=2
start
"$PYTHON" "$ROOT/tools/examples/train.py" "$M/jobs/a/current" --epochs 2 --workers 2 | tee "$T/out"
equal "epochs" "$(grep -c ': 48 samples, loss ' "$T/out")" 2
once a 48
once a 48 0001
nothing_held
