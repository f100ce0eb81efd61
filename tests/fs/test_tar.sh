#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = tar: GNU tar and Python's tarfile read the shards, as streams and at random. Each sample
# comes once, with its label, as in layout flat.
. "$(dirname "$0")/lib.sh"
dataset 3 8
size=(tensor.resize=48 tensor.crop=40)
job flat "${size[@]}" job.order=sequential
for name in gnu stream random; do
	job $name "${size[@]}" view.layout=tar view.shard=10
done
job dropped "${size[@]}" view.layout=tar view.shard=10 view.drop_last=yes
job whole view.layout=tar # images of their own size, padded
start
read_epoch flat # position = sample
shards=$(epoch gnu)

equal "shards" "$(names "$shards" | xargs)" "shard-000000.tar shard-000001.tar shard-000002.tar"
equal "shards without the last" "$(names "$(epoch dropped)" | wc -l)" 2
equal "bound by listing" "$(status_of gnu bound)" 0
for shard in "$shards"/*; do
	mkdir "$T/${shard##*/}"
	tar -xf "$shard" -C "$T/${shard##*/}" 2>"$T/message"
	equal "what tar says" "$(cat "$T/message")" ""
	equal "remainder of tar's record" $(($(stat -c %s "$shard") % 10240)) 0
done
equal "members" "$(names "$T"/shard-000001.tar | head -3 | xargs)" \
	"00000010.cls 00000010.ppm 00000011.cls"
equal "members of the last one" "$(names "$T/shard-000002.tar" | wc -l)" 8
once gnu 24
"$PYTHON" "$FS/tars.py" extracted "$M/jobs/gnu" "$M/jobs/flat" "$T"
for how in stream random; do
	"$PYTHON" "$FS/tars.py" $how "$M/jobs/$how" "$M/jobs/flat"
	once $how 24
done
nothing_held
"$PYTHON" "$FS/tars.py" images "$M/jobs/whole" "$D"
cat "$(epoch dropped)"/* >/dev/null
equal "samples without the last shard" "$(order dropped | wc -l)" 20
