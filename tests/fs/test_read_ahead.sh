#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A mapped batch that is read in order is requested in large pieces. A read-ahead that an operator
# sets for a mount stays when another engine takes over.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 1 12 600x500
job a tensor.crop=300 view.layout=batch view.batch=12 job.epochs=2
start
limit=/sys/class/bdi/$(mountpoint -d "$M")/read_ahead_kb
[[ -w $limit ]] || skip "$limit can't be written"
equal "reads ahead, KiB" "$(cat "$limit")" 2048

# 3,244,128 bytes with the head: 25 reads of 128 KiB
before=$(counter requests_read)
"$PYTHON" -c '
import sys, numpy
assert numpy.load(sys.argv[1], mmap_mode="r").sum() > 0' "$(epoch a)/batch-000000.npy"
reads=$(($(counter requests_read) - before))
((reads <= 8)) || fail "$reads reads for a batch that is mapped"

echo 256 >"$limit"
before=$(engine)
ctl upgrade >/dev/null
another_engine "$before"
equal "read ahead with the next engine, KiB" "$(cat "$limit")" 256
