#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The text files are whole, agree with each other, and can be parsed.
. "$(dirname "$0")/lib.sh"
dataset
job a tensor.crop=32 "job.where=label < 2"
start
read_epoch a

grep -q . "$M/README"
equal "info" "$(sed -n 's/^samples *//p' "$M/datasets/images/info")" 24
grep -q "$D" "$M/datasets/images/info"
grep -q 'crop = 32' "$M/jobs/a/job.ini"
grep -q 'where = label < 2' "$M/jobs/a/job.ini"
for key in samples bound consumed; do equal "status: $key" "$(status_of a $key)" 16; done
for key in served decoded shared hit errors waits wait_s; do
	[[ $(status_of a $key) =~ ^[0-9.]+$ ]] || fail "status has no $key"
done
"$PYTHON" - "$M" <<'PYTHON'
import json, re, sys
top = sys.argv[1]
pairs = dict(line.split() for line in open(top + "/stats") if len(line.split()) == 2)
members = json.load(open(top + "/stats.json"))
assert set(members) >= {"decodes", "samples_served", "cache_pins"}, members
times = {key for key, value in members.items() if isinstance(value, dict)}
assert times == {"open_latency", "open_wait", "sample_read", "sample_decode", "lock_hold"}, times
assert set(members) - times <= set(pairs), set(members) - set(pairs)
assert int(members["samples_served"]) == int(pairs["samples_served"]) == 16
metrics = open(top + "/metrics").read()
for line in metrics.splitlines():
    assert re.match(r"# EOF$|# (HELP|TYPE|UNIT) joaderfs_\w+ .|joaderfs_\w+(\{.*\})? [-0-9.e+]+$", line), line
assert "# TYPE joaderfs_decodes" in metrics and "# TYPE joaderfs_cache_bytes gauge" in metrics
PYTHON
