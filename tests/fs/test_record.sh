#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# format = record: a file has its label and its image, whether the kernel or the daemon serves it,
# and for whichever job the image was prepared. A sample needs one open and one close.
. "$(dirname "$0")/lib.sh"
dataset 3 8
record=(tensor.resize=48 tensor.crop=40 tensor.format=record)
array=(tensor.resize=48 tensor.crop=40 tensor.format=npy job.order=sequential)
floats=(tensor.dtype=float32 tensor.axes=CHW)
job a "${record[@]}" job.epochs=2
job direct "${record[@]}" view.io=direct
job floats "${record[@]}" "${floats[@]}"
job array "${array[@]}"
job array-floats "${array[@]}" "${floats[@]}"
start

before=$(counter requests_open)
cat "$(epoch a)"/*.npy >/dev/null
equal "opens of an epoch" $(($(counter requests_open) - before - 1)) 24
if grep -q "the kernel itself reads the samples" "$LOG"; then
	equal "opens of files that the kernel reads" "$(counter opens_passed_through)" 24
fi
once a 24
for name in a direct; do
	cat "$(epoch $name)"/*.npy >/dev/null
	equal "labels of $name" "$("$PYTHON" "$FS/records.py" "$(epoch $name)" "$(epoch array)")" "0 1 2"
done
cat "$(epoch floats)"/*.npy >/dev/null
equal "labels of floats" \
	"$("$PYTHON" "$FS/records.py" "$(epoch floats)" "$(epoch array-floats)")" "0 1 2"
nothing_held
refuse_job() {
	job bad "${record[@]}" "$1"
	! ctl add "$T/jobs.d/bad.ini" >"$T/refused" 2>&1 || fail "$1 was taken"
	grep -q ":format: found \"$2\"" "$T/refused" || fail "$(cat "$T/refused")"
}
refuse_job view.layout=tar record
refuse_job view.layout=batch format
