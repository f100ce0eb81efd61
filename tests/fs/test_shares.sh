#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Two jobs that always wait get decode time by their weights, with `sampler = exchange`, while other
# jobs come, read and go each second. First come, first served divides the time differently. status,
# ls and metrics show demand and share.
. "$(dirname "$0")/lib.sh"

# Makes 300 images of such a size that all readers wait for decoders, even if readers get little
# CPU.
dataset 2 6 3000x2000
for image in "$D"/*/*; do
	for i in $(seq 24); do
		cp "$image" "${image%.*}-$i.${image##*.}"
	done
done

# reads JOB SECONDS: reads epoch after epoch by eight readers at a time
reads() {
	"$PYTHON" - "$M/jobs/$1" "$2" <<-'END'
		import itertools, sys, threading, time
		files = (f"{sys.argv[1]}/epoch-{epoch:04}/{position:08}.ppm"
		         for epoch in itertools.count() for position in range(100))
		mutex, end = threading.Lock(), time.monotonic() + float(sys.argv[2])
		def read():
		    while time.monotonic() < end:
		        with mutex:
		            path = next(files)
		        with open(path, "rb", buffering=0) as file:
		            file.read()
		threads = [threading.Thread(target=read) for _ in range(8)]
		for thread in threads:
		    thread.start()
		for thread in threads:
		    thread.join()
	END
}

# guests SECONDS: other jobs come, read and leave
guests() {
	local end=$((SECONDS + $1)) i=0
	while ((SECONDS < end)); do
		i=$((i + 1))
		job_text "guest$i" tensor.crop=256 "job.where=id % 3 = 2" | ctl add - >/dev/null
		timeout 1 cat "$(epoch "guest$i")"/*.ppm >/dev/null || true
		ctl rm "guest$i" >/dev/null
	done
}

# heavy_by_light RULE: prints 100 times the ratio of samples served to the job of weight 4 and to
# that of weight 1
heavy_by_light() {
	config "joaderfs.state=$T/state-$1" joaderfs.cache=4M joaderfs.workers=1 joaderfs.sampler=exchange "joaderfs.share=$1"
	job light tensor.crop=256 "job.where=id % 3 = 0" job.epochs=9999
	job heavy tensor.crop=256 "job.where=id % 3 = 1" job.epochs=9999 job.weight=4
	start
	local readers=()
	reads light 8 &
	readers+=($!)
	reads heavy 8 &
	readers+=($!)
	guests 6
	ctl ls >"$T/ls"
	cp "$M/metrics" "$T/metrics"
	wait "${readers[@]}"
	ratio=$((100 * $(status_of heavy served) / $(status_of light served)))
	echo "$1: heavy is served $ratio/100 of light"
	stop
}

heavy_by_light fair
((ratio > 250)) || fail "heavy is served $ratio/100 of light"
grep -Eq '^heavy .* [0-9]+ +>?[0-9]+ +[0-9]+%/[0-9]+% +[0-9]+% +[0-9]+/[0-9]+ +root$' "$T/ls" || fail "$(cat "$T/ls")"
for name in rate demand demand_at_least share_wanted share_granted waiting wait_seconds_total; do
	grep -Eq "^joaderfs_job_$name\\{job=\"light\",dataset=\"images\"\\} [0-9.e+-]+$" "$T/metrics" || fail "no $name"
done
grep -q "^# TYPE joaderfs_job_wait_seconds_total counter$" "$T/metrics" || fail "not a counter"
heavy_by_light fifo
((ratio < 150)) || fail "first come, first served: heavy is served $ratio/100 of light"
