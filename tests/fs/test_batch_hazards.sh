#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = batch: a damaged image makes its batch fail with EIO, and the log names both. The other
# batches, all labels and the rest of the epoch are read as usual. A reader that is killed while it
# waits for a batch ends at once.
. "$(dirname "$0")/lib.sh"
dataset 3 8
truncate -s 900 "$D/class0/0002.jpg"
batch=(tensor.resize=48 tensor.crop=40 view.layout=batch view.batch=4)
job a "${batch[@]}" "job.where=label != 1" job.epochs=2
job slow "${batch[@]}" "job.where=label = 1"
start

failed=()
for file in "$(epoch a)"/*[0-9].npy; do
	"$PYTHON" -c 'import sys, numpy; assert numpy.load(sys.argv[1]).shape == (4, 40, 40, 3)' \
		"$file" 2>"$T/message" && continue
	grep -q 'Input/output error' "$T/message" || fail "$(cat "$T/message")"
	failed+=("$file")
done
equal "batches that failed" "${#failed[@]}" 1
number=$((10#$(basename "${failed[0]}" .npy | cut -d- -f2)))
grep -q "job a: .* batch $number .*class0/0002.jpg" "$LOG" || fail "the log does not say which"
for file in "$(epoch a)"/*.labels.npy; do cat "$file" >/dev/null; done
! cat "${failed[0]}" >/dev/null 2>&1 || fail "it can be read now"
once a 16
equal "consumed" "$(status_of a consumed)" 16
equal "state" "$(status_of a state)" waiting
cat "$(epoch a 0001)/batch-000003.labels.npy" >/dev/null # the next one can begin

stop
start --fault "load.read:NONE:after=2:until=$T/go"
cat "$(epoch slow)/batch-000001.npy" >/dev/null &
reader=$!
for _ in $(seq 200); do # some samples of the batch are prepared, others are not
	(($(counter decodes) > 0)) && break
	sleep 0.02
done
equal "bound by opening" "$(status_of slow bound)" 4
kill -KILL $reader
wait $reader || true
for _ in $(seq 200); do # the samples are given up a moment after the reader has its answer
	(($(counter interrupts) > 0)) && break
	sleep 0.05
done
(($(counter interrupts) > 0)) || fail "no open was interrupted"
equal "consumed by who was killed" "$(status_of slow consumed)" 0
equal "bound by opening" "$(order slow | cut -f1 | xargs)" "4 5 6 7"
touch "$T/go"
cat "$(epoch slow)"/batch-00000?.npy >/dev/null
once slow 8
equal "consumed" "$(status_of slow consumed)" 8
