#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Credentials that expire or are revoked in the middle of an epoch are a fact about the source:
# reads fail as with a server that is away, their positions stay unread, the log reports it once,
# and no job skips a sample. A refusal of one object is an error of that sample.
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/s3.sh"
# beside: it waits for tries
dataset 3 8
mkdir -p "$T/s3/bucket"
cp -r "$D" "$T/s3/bucket/photos"
s3_start
D=s3://bucket/photos config
job a tensor.crop=32 job.bad_sample=skip job.epochs=9 view.lookahead=1
job fresh tensor.crop=24 job.bad_sample=skip job.epochs=9 view.lookahead=1
start

# --- in the middle of an epoch; each object gets one of these answers
for i in 0 1 2 3 4 5 6 7; do cat "$(epoch a)/0000000$i.ppm" >/dev/null; done
s3_says "400 ExpiredToken" "401 Unauthorized" "403 AccessDenied" "403 InvalidAccessKeyId"
read_all() { # JOB EPOCH FROM TO: all at once; prints how many fail
	local i pids=() failed=0
	for i in $(seq -f %08g "$3" "$4"); do
		cat "$(epoch "$1" "$2")/$i.ppm" >/dev/null 2>&1 &
		pids+=($!)
	done
	for i in "${pids[@]}"; do wait "$i" || failed=$((failed + 1)); done
	echo $failed
}
failed=$(read_all a 0000 8 23)
((failed >= 15)) || fail "only $failed reads fail" # one was read ahead
equal "consumed" "$(status_of a consumed)" $((24 - failed))
equal "lines of the log" "$(grep -c warning: "$LOG")" 1
logged "s3://bucket/photos: the source refuses all reads: the server answers 40"

# --- reads that wait for a moment succeed
reader() {
	read_all a 0000 8 23 >"$T/failed"
}
reader &
waits=$!
tries() {
	[[ $(counter retries) -gt $1 ]]
}
before=$(counter retries)
until tries "$before"; do sleep 0.02; done
s3_says
wait "$waits"
equal "reads that fail for a moment" "$(<"$T/failed")" 0
logged "s3://bucket/photos: the source can be read again"
once a 24
equal "bad samples" "$(status_of a bad_samples)" 0
equal "images of the next epoch" "$(find "$(epoch a 0001)/" -name '*.ppm' | wc -l)" 24
read_epoch a 0001
once a 24 0001
nothing_held

# --- one object is refused while others are not
s3_says "403 AccessDenied class1/0003.jpg"
equal "reads that fail" "$(read_all fresh 0000 0 23)" 1
equal "consumed" "$(status_of fresh consumed)" 24
equal "bad samples" "$(status_of fresh left_out | xargs)" class1/0003.jpg
equal "images of the next epoch" "$(find "$(epoch fresh 0001)/" -name '*.ppm' | wc -l)" 23
stop

# --- a scan: known samples stay, and a new one does not count as a bad image
s3_says "400 ExpiredToken"
cp "$T/s3/bucket/photos/class0/0000.jpg" "$T/s3/bucket/photos/class0/new.jpg"
D=s3://bucket/photos config images.scan=before
start
logged "ExpiredToken"
equal "samples, refused" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 24
stop
s3_says "400 ExpiredToken .jpg"
start
equal "samples, all but the listing refused" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 24
stop
s3_says
start
equal "samples" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 25
job_text b tensor.crop=32 job.bad_sample=skip | ctl add -
read_epoch b
once b 25
