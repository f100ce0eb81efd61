#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Several processes read pieces of one batch, or of one shard, through a common descriptor: each
# gets the same bytes as a single reader.
. "$(dirname "$0")/lib.sh"
dataset 3 40 64x48
job batch tensor.crop=32 tensor.format=npy view.layout=batch view.batch=30 view.io=direct
job floats tensor.crop=32 tensor.format=npy tensor.dtype=float32 view.layout=batch \
	view.batch=30 view.io=direct
job tar tensor.crop=32 view.layout=tar view.shard=30
start

cat >"$T/read.py" <<'PYTHON'
import os
import random
import sys

READERS, PIECES = 6, 2000

for path in sys.argv[1:]:
    size = os.stat(path).st_size
    fd = os.open(path, os.O_RDONLY)
    with open(path, "rb") as file:
        whole = file.read()
    children = []
    for k in range(READERS):
        child = os.fork()
        if child == 0:
            rng = random.Random(k)
            for _ in range(PIECES):
                begin = rng.randrange(size)
                data = os.pread(fd, rng.choice((100, 1000, 9000)), begin)
                if not data or data != whole[begin:begin + len(data)]:
                    print(f"{path}: other bytes at {begin}", file=sys.stderr)
                    os._exit(1)
            os._exit(0)
        children.append(child)
    if any(os.waitpid(child, 0)[1] for child in children):
        sys.exit(1)
PYTHON
for round in 0 1 2; do
	"$PYTHON" "$T/read.py" "$M/jobs/batch/epoch-0000/batch-00000$round.npy" \
		"$M/jobs/floats/epoch-0000/batch-00000$round.npy" \
		"$M/jobs/tar/epoch-0000/shard-00000$round.tar"
done
