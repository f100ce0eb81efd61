#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl trace prints each open and each close of a job's readers, and none of other jobs, until
# it is ended, or its reader closes the pipe.
. "$(dirname "$0")/lib.sh"
dataset 1 8
job a tensor.crop=32 job.order=sequential
job b tensor.crop=32
start --fault "load.image.0002.jpg:NONE:until=$T/decode"

"$BUILD/joaderctl" --socket "$T/socket" trace a >"$T/trace" 2>"$T/errors" &
trace=$!
for _ in $(seq 200); do
	[[ ! -s $T/trace ]] || break
	sleep 0.02
done
cat "$(epoch a)/00000000.ppm" "$(epoch a)/00000001.ppm" >/dev/null
cat "$(epoch a)/00000002.ppm" >/dev/null &
reader=$!
for _ in $(seq 300); do
	[[ $(status_of a waited_s_decoding) == 0.[01]* ]] || break
	sleep 0.02
done
touch "$T/decode"
wait "$reader"
cat "$(epoch b)/00000000.ppm" >/dev/null
cat "$M/jobs/a/current/00000004.ppm" >/dev/null
for _ in $(seq 300); do # the kernel closes files a moment later
	(($(counter open_files) > 0)) || break
	sleep 0.02
done
kill -INT "$trace"
status=0
wait "$trace" || status=$?
equal "exit status after ^C" "$status" 0
! grep -q . "$T/errors" || fail "$(cat "$T/errors")"

"$PYTHON" - "$T/trace" <<'PYTHON'
import csv, sys, time
rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
assert set(rows[0]) == {"time", "open", "event", "epoch", "position", "sample", "waited", "error"}
times = [float(row["time"]) for row in rows]
assert times == sorted(times) and abs(times[-1] - time.time()) < 3600, times
opens = {}
for row in rows:
    opens.setdefault(row["open"], []).append(row)
assert len(opens) == 4, rows
for number, events in opens.items():
    assert [row["event"] for row in events] == ["open", "ready", "release"], events
    open_, ready, release = events
    assert open_["position"] == ready["position"] == release["position"]
    assert ready["epoch"] == "0" and ready["sample"] != "" and ready["error"] == "", ready
    took = float(ready["time"]) - float(open_["time"])
    assert 0 <= float(ready["waited"]) <= took, (ready, took)
by_position = {events[0]["position"]: events for events in opens.values()}
assert sorted(by_position) == ["0", "1", "2", "4"], by_position
assert float(by_position["2"][1]["waited"]) > 0, by_position["2"]
# at least the time that status showed before the image was released
assert sum(float(events[1]["waited"]) for events in opens.values()) >= 0.2, rows
assert by_position["4"][0]["epoch"] == "", "of current/ it is not known yet"
PYTHON

for wrong in "trace" "trace nobody" "trace a b"; do
	# shellcheck disable=SC2086 # words
	! timeout 20 "$BUILD/joaderctl" --socket "$T/socket" $wrong >"$T/out" 2>&1 || fail "$wrong: done"
	grep -q . "$T/out" || fail "$wrong: no message"
done
# the reader of the pipe leaves
timeout 60 "$BUILD/joaderctl" --socket "$T/socket" trace b 2>"$T/errors" | head -n 2 >"$T/two" &
two=$!
for _ in $(seq 200); do
	[[ ! -s $T/two ]] || break
	cat "$M"/jobs/b/current/*.ppm >/dev/null 2>&1 || true
	sleep 0.05
done
for _ in 1 2 3 4 5 6; do
	cat "$M"/jobs/b/current/*.ppm >/dev/null 2>&1 || true
	sleep 0.1
done
wait "$two" || true
equal "lines" "$(wc -l <"$T/two")" 2
! grep -q . "$T/errors" || fail "$(cat "$T/errors")"
