#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A daemon in a name space of processes of its own, as a sidecar: it can't tell readers outside
# apart. A job whose epochs differ warns of this once; a job whose positions keep their samples is
# exact.
. "$(dirname "$0")/lib.sh"
unshare -p -f true 2>/dev/null || skip "no name spaces of processes here"
dataset 2 8
job fresh tensor.crop=32 job.epochs=9
job kept tensor.crop=32 job.epochs=9 view.layout=classes view.mapping=fixed
config
env --default-signal=INT,QUIT unshare -p -f --kill-child=TERM "$PROGRAM" --no-supervisor \
	"$T/joaderfs.ini" "$M" -f >>"$LOG" 2>&1 &
UNSHARE=$!
until [[ -e $M/README ]]; do
	kill -0 "$UNSHARE" || fail "the daemon ended: $(<"$LOG")"
	sleep 0.05
done
at_end() {
	umount "$M"
}

for job in fresh kept; do
	for _ in 1 2 3; do
		find "$M/jobs/$job/current" -name '*.ppm' | shuf | xargs md5sum | cut -d' ' -f1 | sort -u >"$T/pass"
		equal "images of $job" "$(wc -l <"$T/pass")" 16
	done
done
equal "lines of the log" "$(grep -c "job fresh: .*can't be told apart; .*shareProcessNamespace" "$LOG")" 1
status_of fresh notice | grep -q "can't be told apart" || fail "status: $(<"$M/jobs/fresh/status")"
equal "notices of kept" "$(status_of kept notice)" ""
unshare -p -f "$BUILD/joaderctl" doctor "$T/joaderfs.ini" >"$T/doctor" || true
grep -q "^costs .*its own name space of processes" "$T/doctor" || fail "doctor: $(<"$T/doctor")"
