#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Trainings with torch are killed twice, and go on with other workers and ranks: three epochs are
# exact. tools/examples/resume.py, too, prints the same result in the end.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 4 15 40x40
lives=$(effort 6 30)
job other tensor.crop=32 job.epochs=1000
for seed in $(seq 0 3 $((lives - 1))); do
	job "flat$seed" tensor.crop=32 job.epochs=3
	job "classes$((seed + 1))" tensor.crop=32 job.epochs=3 view.layout=classes
	job "batch$((seed + 2))" tensor.crop=32 job.epochs=3 view.layout=batch view.batch=4 tensor.format=npy
done
job example tensor.crop=32 job.epochs=3
start
mkdir "$T/work"
export PATH=$BUILD:$PATH JOADERFS_SOCKET=$T/socket
"$PYTHON" "$FS/resumes.py" "$lives" 0 "$M/jobs" "$T/work"

"$PYTHON" "$ROOT/tools/examples/resume.py" "$M/jobs/example" "$T/checkpoint" \
	--epochs 1 --batch 8 --workers 1 --every 3 | tee "$T/out"
"$PYTHON" "$ROOT/tools/examples/resume.py" "$M/jobs/example" "$T/checkpoint" \
	--epochs 2 --batch 8 --workers 0 --every 3 | tee -a "$T/out"
grep -q "epoch 0: 60 samples" "$T/out"
grep -q "epoch 0: 12 samples" "$T/out" # the last checkpoint was after six batches
grep -q "epoch 1: 60 samples" "$T/out"
once example 60 0000
once example 60 0001
