#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# status, ls and metrics show how long the readers of a job waited, and for which cause; how much
# cache all prepared samples need; and the log warns when samples are evicted that will be needed
# again.
. "$(dirname "$0")/lib.sh"
dataset 1 2
# The fault of the image makes the decoder wait, and the fault of the read makes the storage wait.
job a tensor.crop=32 job.order=sequential
start --fault "load.read:NONE:until=$T/read" --fault "load.image.0000.jpg:NONE:until=$T/decode"

# beyond KEY MILLISECONDS: waits until the job's readers have waited that long for the cause KEY
beyond() {
	local _ s
	for _ in $(seq 300); do
		s=$(status_of a "waited_s_$1")
		[[ $s ]] || fail "status has no waited_s_$1"
		((10#${s/./} < $2)) || return 0
		sleep 0.02
	done
	fail "waited $s s for $1"
}
# milliseconds KEY: prints the job's waits for the cause KEY
milliseconds() {
	local s
	s=$(status_of a "waited_s_$1")
	echo "$((10#${s/./}))"
}

cat "$(epoch a)/00000000.ppm" >/dev/null &
reader=$!
beyond storage 100
equal "decoding while the storage does not answer" "$(milliseconds decoding)" 0
touch "$T/read"
beyond decoding 200
storage=$(milliseconds storage)
beyond decoding 300
equal "storage while the image is decoded" "$(milliseconds storage)" "$storage"
touch "$T/decode"
wait "$reader"
(($(milliseconds queue) < 100)) || fail "nobody else was served, and it waited for others"
[[ $(status_of a waited) =~ ^0\.[5-9]|^1 ]] || fail "waited $(status_of a waited)"
decoding=$(milliseconds decoding)
cat "$(epoch a)/00000000.ppm" >/dev/null
equal "decoding while nobody waits" "$(milliseconds decoding)" "$decoding"
[[ $(ctl ls | head -n 1) == *" WAITED  PREPARED/SERVED  OWNER" ]] || fail "$(ctl ls)"
[[ $(ctl ls | tail -n 1) =~ \ [0-9]+%\ +[12]/1\ +root$ ]] || fail "$(ctl ls)"
grep -Eq '^joaderfs_job_exposed_wait_seconds_total\{job="a",dataset="images",cause="decoding"\} 0\.[3-9]|[1-9]' \
	"$M/metrics" || fail "metrics don't tell"
equal "bytes of a prepared sample" "$(status_of a prepared_sample_bytes)" 3072
equal "bytes of all" "$(status_of a prepared_all_bytes)" 6144
ctl datasets images | grep -q '^prepared 2 samples of 3072 bytes, all of them 6K, for jobs: 1, ' ||
	fail "$(ctl datasets images)"
if grep -q 'need again' "$LOG"; then fail "nothing was evicted"; fi
stop

# The cache holds ten samples, and another job needs each of them again.
rm -rf "$D" "$T/jobs.d"/* "$T/state"
mkdir "$T/state"
dataset 2 12 64x64
config joaderfs.cache=120000
job fast job.order=sequential tensor.crop=64
job slow job.order=sequential tensor.crop=64 view.lookahead=1
start
cat "$(epoch slow)/00000000.ppm" >/dev/null
read_epoch fast
for _ in $(seq 100); do
	! grep -q 'need again' "$LOG" || break
	sleep 0.05
done
grep -q 'prepared samples were evicted although running epochs need them again: .*a larger cache' "$LOG" ||
	fail "the log does not tell"
(($(counter evictions_needed) > 0)) || fail "no evictions of what is needed"
(($(counter evictions_needed) <= $(counter evictions))) || fail "more than evictions"
saved=$(counter decode_saved_ns)
read_epoch slow
(($(counter decode_saved_ns) > saved || $(status_of slow hit) == 0)) || fail "hits save nothing"
grep -q '^joaderfs_cache_needed_bytes{epochs="1"} ' "$M/metrics" || fail "no cache by need"
if command -v promtool >/dev/null; then
	timeout 30 promtool check metrics <"$M/metrics" >"$T/promtool" 2>&1 || fail "$(cat "$T/promtool")"
fi
equal "lines of evictions" "$(grep -c 'need them again' "$LOG")" 1
