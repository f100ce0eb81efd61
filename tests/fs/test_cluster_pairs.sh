#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Two daemons that listen for each other prepare each pair of an image and its mask once, and each
# group of frames. Samples from the other daemon equal Pillow's. Files beside samples come from each
# daemon's own source.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
needs_torch
printf 'the nodes of one cluster know this\n' >"$T/one"
chmod 600 "$T/one"
"$PYTHON" "$FS/masks.py" make "$D"
rm -r "$D/deep"
"$PYTHON" - "$D/masks/004.png" <<-'PYTHON'
	import sys
	from PIL import Image
	with Image.open(sys.argv[1]) as mask:
	    mask.resize((mask.width // 2, mask.height // 2), 0).save(sys.argv[1])
PYTHON
mkdir "$T/videos" "$T/texts"
"$PYTHON" "$FS/groups.py" make "$T/videos"
"$PYTHON" "$FS/beside.py" make "$T/texts"
# shellcheck disable=SC2034 # for node
DATASET_LINES="[dataset videos]
path = $T/videos/data
[dataset texts]
path = $T/texts/plain
label = none"
section='[tensor mask]
from = ../masks/{stem}.png
filter = nearest
channels = keep'
redis --appendonly no
for node in a b; do
	node $node 'ttl = 2s' 'listen = 127.0.0.1:0' "secret = $T/one"
	at=$T/$node/jobs
	job_text pairs tensor.resize=40 view.lookahead=2 augment.seed=5 augment.random_crop=30 >"$at/pairs.ini"
	echo "$section" >>"$at/pairs.ini"
	job_text videos job.dataset=videos tensor.group=directory tensor.frames=4 tensor.resize=32 \
		view.lookahead=2 >"$at/videos.ini"
	job_text texts job.dataset=texts tensor.crop=16 view.layout=tar view.shard=5 \
		"view.beside=txt json" view.lookahead=2 >"$at/texts.ini"
done
launch a
launch b
shows a "$(ctl_of b cluster | grep -o '^member b [0-9.:]*')\b"
shows b "$(ctl_of a cluster | grep -o '^member a [0-9.:]*')\b"
read_all() {
	local jobs=$T/$1/mnt/jobs
	"$PYTHON" "$FS/pairs.py" "$jobs" "$D" "pairs flat resize=40 seed=5 random_crop=30"
	"$PYTHON" "$FS/groups.py" check "$jobs" "$T/videos" "videos npy frames=4 resize=32"
	"$PYTHON" "$FS/beside.py" tar "$jobs/texts" "$T/texts" txt json
}
read_all a &
reader=$!
read_all b
wait "$reader" || fail "a reader failed"
# 8 pairs, 9 videos, 14 images with texts
equal "decodes" "$(($(of a decodes) + $(of b decodes)))" 31
equal "fetched" "$(($(of a samples_fetched) + $(of b samples_fetched)))" 31
equal "failures" "$(of a fetch_failures) $(of b fetch_failures)" "0 0"
(($(of a samples_fetched) > 0 && $(of b samples_fetched) > 0)) || fail "one of them is home of all"
end a
end b
