#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# order = sequential: position k holds the k-th selected sample in every layout, epoch after
# epoch, in whatever order the files are opened, also before anything is open.
. "$(dirname "$0")/lib.sh"
dataset 3 40
selected="job.where=id % 2 = 1"
for layout in flat tar batch; do
	size=()
	[[ $layout != tar ]] || size=(view.shard=7)
	[[ $layout != batch ]] || size=(view.batch=7)
	job $layout tensor.crop=32 job.order=sequential job.epochs=3 view.layout=$layout \
		"$selected" "${size[@]}"
done
start
for layout in flat tar batch; do
	"$PYTHON" - "$M/jobs/$layout/current" <<'PY'
import glob, random, sys
from concurrent.futures import ThreadPoolExecutor

def read(path):
    with open(path, "rb") as file:
        return len(file.read())

files = [f for f in glob.glob(sys.argv[1] + "/*") if ".labels." not in f and ".cls" not in f]
with ThreadPoolExecutor(4) as readers:
    for epoch in range(3):
        random.Random(epoch).shuffle(files)
        assert all(readers.map(read, files))
PY
	for epoch in 0000 0001 0002; do
		equal "$layout, epoch $epoch: samples by position" \
			"$(order $layout $epoch | sort -n | cut -f1,2)" \
			"$(paste <(seq 0 59) <(seq 1 2 119))"
	done
done
nothing_held
