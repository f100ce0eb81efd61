#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The engine is killed while it answers reads of samples that lie in files of their own, with pages
# that it has not touched: no reader gets EIO. A bug there shows in one of 50 kills, so only
# JOADERFS_LONG=1 is nearly sure to find it.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
kills=20
[[ -z ${JOADERFS_LONG:-} ]] || kills=120
dataset 4 60
# The kernel serves the files of the first job, whose head they have. The engine serves the files
# of the other jobs.
job a tensor.crop=32 job.epochs=9999
for name in b c d e; do
	job $name tensor.crop=32 tensor.format=npy job.epochs=9999
done
config joaderfs.cache=16K
start
cat "$(epoch a)/00000000.ppm" >/dev/null
readers=()
for name in b c d e; do
	"$PYTHON" - "$(epoch $name)" "$T/end" <<'READ' &
import os, sys
directory, end = sys.argv[1:]
names = sorted(n for n in os.listdir(directory) if n.endswith(".npy"))
while not os.path.exists(end):
    for name in names:
        with open(os.path.join(directory, name), "rb", buffering=0) as file:
            assert len(file.read(1 << 16)) > 32 * 32 * 3, name
READ
	readers+=($!)
done
for _ in $(seq "$kills"); do
	sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
	kill_engine
done
touch "$T/end"
for reader in "${readers[@]}"; do
	wait "$reader" || fail "a reader noticed one of $kills ends of the engine"
done
