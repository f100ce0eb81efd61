#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Prometheus accepts the file metrics, with the times of opens, waits, reads, decodes and locks.
# stats and stats.json have the same times.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job a tensor.crop=32
job b tensor.crop=32 tensor.resize=48
start
read_epoch a
read_epoch b
# An open is counted after it was answered.
for _ in $(seq 100); do
	cp "$M/metrics" "$T/metrics"
	! grep -q '^joaderfs_open_latency_seconds_count\(.*\)\? 48$' "$T/metrics" || break
	sleep 0.02
done

if command -v promtool >/dev/null; then
	timeout 30 promtool check metrics <"$T/metrics" >"$T/promtool" 2>&1 ||
		fail "promtool: $(cat "$T/promtool")"
	! grep -q . "$T/promtool" || fail "promtool: $(cat "$T/promtool")"
	! printf 'joaderfs_x 1\n' | timeout 30 promtool check metrics >/dev/null 2>&1 ||
		fail "promtool takes a metric without help"
fi
equal "the last line" "$(tail -n 1 "$T/metrics")" "# EOF"
for name in open_latency open_wait sample_read sample_decode lock_hold; do
	equal "type of $name" "$(sed -n "s/^# TYPE joaderfs_${name}_seconds //p" "$T/metrics")" histogram
	equal "unit of $name" "$(sed -n "s/^# UNIT joaderfs_${name}_seconds //p" "$T/metrics")" seconds
done
# value NAME: prints the value of the only series of the name
value() {
	sed -nE "s/^joaderfs_$1(\\{[^}]*\\})? //p" "$T/metrics"
}
reads=$(value sample_read_seconds_count)
equal "opens" "$(value open_latency_seconds_count)" 48
equal "decodes" "$(value sample_decode_seconds_count)" "$(value decodes_total)"
((reads >= 24 && reads <= 48)) || fail "$reads reads"
equal "waits" "$(value open_wait_seconds_count)" "$(value waits_total)"
grep -q '^joaderfs_sample_read_seconds_bucket{dataset="images",source="directory",le="+Inf"}' \
	"$T/metrics" || fail "reads are not told by dataset and source"
grep -q '^joaderfs_lock_hold_seconds_count{lock="sched"} [1-9]' "$T/metrics" || fail "no locks"
equal "stats" "$(counter sample_read_count.images)" "$reads"
"$PYTHON" - "$M" "$reads" <<'PYTHON'
import json, sys
stats = json.load(open(sys.argv[1] + "/stats.json"))
read = stats["sample_read"]["images"]
assert read["count"] == sum(n for _, n in read["buckets"]) == int(sys.argv[2]), read
assert 0 < read["p50_ns"] <= read["p99_ns"] and read["sum_ns"] > 0, read
assert stats["open_latency"]["count"] == 48
PYTHON
