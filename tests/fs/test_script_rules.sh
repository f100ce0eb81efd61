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

! grep -q "job shuffled:" "$LOG" || fail "a false alarm: $(cat "$LOG")"

"$PYTHON" "$FS/two_scripts.py" "$M/jobs/two/current" 5

# Epochs of one file and of two, pass after pass. If the kernel has not told of a close before
# the next open, the file still has its content of the epoch before: that is seldom.
"$PYTHON" - "$M/jobs" <<'PY'
import glob, hashlib, sys

def read(path):
    with open(path, "rb") as file:
        return hashlib.sha1(file.read()).hexdigest()

for job, names in (("batch", ["batch-000000.npy"]), ("tar", ["shard-000000.tar", "shard-000001.tar"])):
    given = [[read(f"{sys.argv[1]}/{job}/current/{name}") for name in names] for _ in range(50)]
    assert len(set(map(str, given))) >= 47, (job, len(set(map(str, given))))
PY

# What is not as it should be is said: once in the log, and in status.
job few tensor.crop=32 job.epochs=2
ctl add "$T/jobs.d/few.ini" >/dev/null
for _ in 1 2; do
	! head -c 1 "$(epoch few 0001)/00000000.ppm" 2>"$T/early" || fail "epoch 1 is there"
	head -c 1 "$(epoch few)/00000000.ppm" >/dev/null
done 2>/dev/null
"$PYTHON" - "$M/jobs/few/current" <<'PY'
import glob, sys

for _ in range(3):
    for path in sorted(glob.glob(sys.argv[1] + "/*.ppm")):
        with open(path, "rb") as file:
            file.read()
PY
equal "lines of few" "$(grep -c "job few:" "$LOG")" 2
grep -q "job few: epoch 1: an epoch was opened before .* (of epoch 0 1 of 300 samples" "$LOG" ||
	fail "nothing said of an epoch that is early: $(cat "$LOG")"
grep -q "job few: epoch 1: all epochs were read" "$LOG" || fail "nothing said of the last epoch"
equal "notices in status" "$(status_of few notice | wc -l)" 2
(($(counter notices) >= 2)) || fail "notices: $(counter notices)"
