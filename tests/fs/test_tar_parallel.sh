#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = tar: processes read one shard at once, from both ends and from the middle, with a cache
# for three images. They get the same bytes as a later reader, and each sample comes once.
. "$(dirname "$0")/lib.sh"
dataset 4 10
config joaderfs.cache=15K # an image has 4800 bytes
job a tensor.resize=48 tensor.crop=40 view.layout=tar view.shard=40 view.lookahead=4
job other tensor.resize=48 tensor.crop=40
start
shard=$(epoch a)/shard-000000.tar

cat >"$T/reader.py" <<'PYTHON'
import os, sys
path, out, kind = sys.argv[1:4]
size, piece = os.stat(path).st_size, int(sys.argv[4])
offsets = list(range(0, size, piece))
if kind == "backwards":
    offsets.reverse()
elif kind == "middle":
    half = len(offsets) // 2
    offsets = offsets[half:] + offsets[:half]
fd = os.open(path, os.O_RDONLY)
data = bytearray(size)
for at in offsets:
    part = os.pread(fd, piece, at)
    assert len(part) == min(piece, size - at), (len(part), at)
    data[at:at + len(part)] = part
os.close(fd)
with open(out, "wb") as file:
    file.write(data)
PYTHON
readers=()
for how in "forwards 65536" "backwards 10240" "middle 4096" "backwards 777" "forwards 1048576"; do
	# shellcheck disable=SC2086 # two words
	"$PYTHON" "$T/reader.py" "$shard" "$T/${how// /-}" $how &
	readers+=($!)
done
read_epoch other &
readers+=($!)
for reader in "${readers[@]}"; do wait "$reader"; done
cat "$shard" >"$T/again"
for file in "$T"/forwards-* "$T"/backwards-* "$T"/middle-*; do
	cmp "$file" "$T/again" || fail "${file##*/} is not what is read afterwards"
done
tar -tf "$T/again" >"$T/list" 2>"$T/message"
equal "what tar says" "$(cat "$T/message")" ""
equal "members" "$(wc -l <"$T/list")" 80
once a 40
equal "consumed" "$(status_of a consumed)" 40
nothing_held
