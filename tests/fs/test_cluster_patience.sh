#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# While the server of a group is away, readers get the samples that were drawn before, and then
# wait: for ever, or until the patience of their node ends, with ETIMEDOUT. When the server is back,
# reading goes on without a trace.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
N=480
EACH=$((N / 2))
dataset 2 $EACH 32x24
redis
r=0
for name in a b; do
	node $name 'ttl = 1s' "patience = $((r * 2))s"
	job_text r$r job.epochs=2 job.ranks=2 job.rank=$r job.training=net job.global_batch=8 \
		tensor.crop=16 view.lookahead=4 >"$T/$name/jobs/r$r.ini"
	r=$((r + 1))
	launch $name
done

# reads NAME JOB FIRST: reads file after file; $T/failed.NAME gets the first one that fails
reads() {
	local k
	for ((k = $3; k < EACH; k++)); do
		timeout 60 cat "$T/$1/mnt/jobs/$2/epoch-0000/$(printf %08d "$k").ppm" 2>"$T/why.$1" >/dev/null ||
			break
	done
	echo "$k" >"$T/failed.$1"
}

timeout 60 cat "$T/a/mnt/jobs/r0/epoch-0000/00000000.ppm" >/dev/null
timeout 60 cat "$T/b/mnt/jobs/r1/epoch-0000/00000000.ppm" >/dev/null
kill_redis
logged "cluster: the engine can't be reached: .*; readers get the samples drawn so far, then wait"
reads a r0 1 &
waits=$!
reads b r1 1
failed=$(<"$T/failed.b")
((failed > 1 && failed < EACH)) || fail "the reader without patience came to $failed of $EACH"
grep -q 'Connection timed out' "$T/why.b" || fail "$(<"$T/why.b")"
logged 'the engine has been unreachable for 2 s (\[cluster\] patience): .*opens .* ETIMEDOUT'
grep -q '^cluster away for .*, then ETIMEDOUT$' "$T/b/mnt/jobs/r1/status" || fail "$(<"$T/b/mnt/jobs/r1/status")"
grep -q '^cluster away for .*, then they wait$' "$T/a/mnt/jobs/r0/status" || fail "$(<"$T/a/mnt/jobs/r0/status")"
kill -0 $waits || fail "the patient reader failed at $(<"$T/failed.a"): $(<"$T/why.a")"

redis
shows b '^engine reached$'
reads b r1 "$failed"
wait $waits
for name in a b; do
	equal "files that $name read" "$(<"$T/failed.$name")" $EACH
done
equal "epoch 0" "$(cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-0000.order | sort -n)" "$(seq 0 $((N - 1)))"
! grep '^cluster away' "$T"/[ab]/mnt/jobs/r?/status || fail "it is back"
end a
end b
