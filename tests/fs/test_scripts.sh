#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Training programs that shuffle over current/, beside people who look at all of it, look for
# epochs that are not there, or train with a second script: each sample once in each epoch.
. "$(dirname "$0")/lib.sh"
. "$FS/trainer.sh"
dataset 3 100 48x36
for name in shuffled looked; do
	job $name tensor.crop=32 job.epochs=200
done
job folder tensor.crop=32 job.epochs=9 view.layout=classes
job two tensor.crop=32 job.epochs=9
job batch tensor.crop=32 job.epochs=60 view.layout=batch view.batch=300 tensor.format=npy
job tar tensor.crop=32 job.epochs=60 view.layout=tar view.shard=150
job all tensor.crop=32
start
train flat "$M/jobs/all/current" 1
cut -d' ' -f2,3 "$T/given" | sort >"$T/all"
equal "images" "$(cut -d' ' -f1 "$T/all" | sort -u | wc -l)" 300

# all_once NAME EPOCHS: what was given is each sample with its label, in each epoch
all_once() {
	local epoch
	for ((epoch = 0; epoch < $2; epoch++)); do
		grep "^$epoch " "$T/given" | cut -d' ' -f2,3 | sort | cmp - "$T/all" ||
			fail "$1, epoch $epoch"
	done
}

train flat-shuffle-4-stay "$M/jobs/shuffled/current" 6
all_once shuffled 6

# Somebody looks at all there is, and at epochs that are not.
while cat "$M/jobs/looked/current/"*; do
	head -c 10 "$M/jobs/looked/epoch-0199/00000000.ppm" 2>>"$T/late" || true
done >/dev/null 2>&1 &
LOOKER=$!
train flat-shuffle-2-stay "$M/jobs/looked/current" 4
kill "$LOOKER"
wait "$LOOKER" || true
# A file that both have open at the same moment has one content.
for epoch in 0 1 2 3; do
	given=$(grep "^$epoch " "$T/given" | cut -d' ' -f2,3 | sort -u | wc -l)
	((given >= 297)) || fail "looked, epoch $epoch: $given of 300 images"
done
grep -q "No such file" "$T/late" || fail "an epoch that is far off is there: $(cat "$T/late")"

"$PYTHON" "$FS/two_scripts.py" "$M/jobs/two/current" 5

# Epochs of one file and of two, pass after pass.
"$PYTHON" - "$M/jobs" <<'PY'
import glob, hashlib, sys

def read(path):
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()

for job, names in (("batch", ["batch-000000.npy"]), ("tar", ["shard-000000.tar", "shard-000001.tar"])):
    given = [[read(f"{sys.argv[1]}/{job}/current/{name}") for name in names] for _ in range(50)]
    assert len(set(map(str, given))) == 50, (job, len(set(map(str, given))))
    for epoch in range(48, 50):
        assert given[epoch] == [read(f"{sys.argv[1]}/{job}/epoch-{epoch:04}/{name}") for name in names], epoch
PY
for job in batch tar; do
	for epoch in 0048 0049; do once $job 300 $epoch; done
done
