#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Directories of many files list each name once, and the same names again, while the kernel can
# remember only some of them.
. "$(dirname "$0")/lib.sh"
dataset 1 2
"$PYTHON" - "$D" <<'PY'
import os, sys
top = sys.argv[1]
for c in range(1, 5):
    os.makedirs(f"{top}/class{c}")
    for i in range(5000):
        os.link(f"{top}/class0/{i % 2:04d}.jpg", f"{top}/class{c}/{i:05d}.jpg")
PY
N=20002
job flat tensor.crop=32
job shards tensor.crop=32 view.shard=1000
job classes tensor.crop=32 view.layout=classes
job mirror tensor.crop=32 view.layout=mirror
start

# remembered: prints the number of FUSE inodes that the kernel has in memory
remembered() {
	sed -n 's/^fuse_inode *\([0-9]*\).*/\1/p' /proc/slabinfo 2>/dev/null
}
before=$(remembered)
for look in first second; do
	found=$(find "$(epoch flat)" -type f -printf '%f\n')
	equal "names at the $look look" "$(wc -l <<<"$found")" $((2 * N))
	equal "different names" "$(sort -u <<<"$found" | wc -l)" $((2 * N))
done
equal "directories of shards" "$(find "$(epoch shards)" -mindepth 1 -type d | wc -l)" 21
for name in shards classes mirror; do
	found=$(find "$(epoch $name)" -name '*.ppm')
	equal "files of $name" "$(wc -l <<<"$found")" $N
	equal "different files of $name" "$(sort -u <<<"$found" | wc -l)" $N
done
if [[ -n $before ]]; then
	after=$(remembered)
	((after - before < 40000)) || fail "the kernel remembers $((after - before)) more files"
fi
equal "bindings" "$(order flat)$(order shards)$(order classes)$(order mirror)" ""
