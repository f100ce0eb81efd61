#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl ls: states and colours. joaderctl top: a screen that follows keys, signals and the
# terminal's size; one screen, or JSON, without a terminal; its figures of waits agree with the
# waits during the test.
. "$(dirname "$0")/lib.sh"
dataset 1 8
job beta tensor.crop=32
start
# Adds jobs in an order that differs from that of their names.
job_text alpha tensor.crop=32 job.order=sequential | ctl add -
job_text gamma tensor.crop=32 | ctl add -
read_epoch beta
head -c 1 "$(epoch gamma)/00000000.ppm" >/dev/null

# A job whose programs have ended has its own state. Here the shell, which reads delta, lives.
job_text delta tensor.crop=32 view.layout=classes view.mapping=auto | ctl add -
read -r -N 1 _ <"$M/jobs/delta/current/class0/00000000.ppm"
ctl ls >"$T/ls"
grep -Eq '^gamma +images +ended [0-9]+ s ago +0 +1/8 12% +- ' "$T/ls" || fail "$(cat "$T/ls")"
grep -Eq '^delta +images +running .* auto fixed ' "$T/ls" || fail "$(cat "$T/ls")"
grep -Eq '^beta +images +finished ' "$T/ls" || fail "$(cat "$T/ls")"
# on_terminal ARGUMENT...: prints the output of joaderctl on a terminal
on_terminal() {
	"$PYTHON" -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' "$BUILD/joaderctl" --socket "$T/socket" "$@"
}
on_terminal ls </dev/null | tr -d '\r' >"$T/coloured"
grep -q $'^\033\\[7mNAME' "$T/coloured" || fail "no colours: $(cat "$T/coloured")"
grep -q $'^\033\\[2mgamma' "$T/coloured" || fail "gamma: $(cat "$T/coloured")"
equal "text of the colours" "$(sed 's/\x1b\[[0-9;]*m//g' "$T/coloured" | cut -c 1-20)" "$(cut -c 1-20 "$T/ls")"
NO_COLOR=1 on_terminal ls </dev/null >"$T/plain"
! grep -q $'\033' "$T/plain" || fail "colours with NO_COLOR"
! grep -q $'\033' "$T/ls" || fail "colours without a terminal"
ctl rm delta

ctl top --once --interval 0.1 >"$T/once" || fail "--once: $(cat "$T/once")"
grep -q "^joaderfs $M  jobs 3$" "$T/once" || fail "$(cat "$T/once")"
grep -Eq '^beta +images +finished +0 +100%' "$T/once" || fail "$(cat "$T/once")"
! grep -q $'\033' "$T/once" || fail "a sequence for terminals"
ctl top --interval 0.1 </dev/null | cat >"$T/piped"
# Columns are as wide as their contents.
equal "heads without a terminal" "$(grep '^JOB' "$T/piped" | tr -s ' ')" \
	"$(grep '^JOB' "$T/once" | tr -s ' ')"
equal "what sorts" "$(ctl top --once -i 0.1 --sort name | sed -n '/^JOB/,$p' | cut -d ' ' -f 1 | xargs)" \
	"JOB alpha beta gamma"

for wrong in "--interval 0" "--interval x" "--sort size" "--frobnicate" beta; do
	status=0
	# shellcheck disable=SC2086 # words
	ctl top --once $wrong >"$T/out" 2>&1 || status=$?
	equal "exit status of top $wrong" "$status" 2
	grep -q . "$T/out" || fail "top $wrong: no message"
done
status=0
timeout 20 "$BUILD/joaderctl" --socket "$T/none" top --once 2>"$T/out" || status=$?
equal "exit status without a daemon" "$status" 1
grep -q 'no joaderfs answers' "$T/out" || fail "$(cat "$T/out")"

# JSON is printed until the reader of the pipe leaves.
ctl top --json --interval 0.1 2>"$T/errors" | head -n 2 >"$T/json" || true
! grep -q . "$T/errors" || fail "$(cat "$T/errors")"
"$PYTHON" - "$T/json" <<'PYTHON'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) == 2
for line in lines:
    jobs = {job["name"]: job for job in line["jobs"]}
    beta = jobs["beta"]
    assert beta["decoded"] + beta["shared"] + beta["hit"] == beta["served"] == 8, beta
    assert beta["state"] == "finished" and beta["per_second"] == 0, beta
    assert beta["exposed"]["all"] == 0, beta
    assert line["seconds"] >= 0.1 and line["cache_capacity"] == 64 << 20, line
    assert line["storages"][0]["reads"] >= 8, line
PYTHON
"$PYTHON" -c 'import pyte' 2>/dev/null || skip "no pyte for $PYTHON on this system"
timeout 200 "$PYTHON" "$FS/terminal.py" "$BUILD/joaderctl" "$T/socket"
stop

# One reader waits for its storage all the time, and a reader of another job does not.
start --fault "load.read:NONE:until=$T/read"
cat "$(epoch alpha)/00000000.ppm" >/dev/null &
reader=$!
for _ in $(seq 200); do
	[[ $(status_of alpha waited_s_storage) == 0.000 ]] || break
	sleep 0.02
done
ctl top --once --json --interval 0.2 >"$T/json"
touch "$T/read"
wait "$reader"
"$PYTHON" - "$T/json" <<'PYTHON'
import json, sys
jobs = {job["name"]: job for job in json.load(open(sys.argv[1]))["jobs"]}
assert jobs["alpha"]["exposed"]["storage"] == 1, jobs["alpha"]
assert jobs["alpha"]["exposed"]["decoding"] == jobs["alpha"]["exposed"]["queue"] == 0, jobs["alpha"]
assert jobs["beta"]["exposed"]["all"] == 0, jobs["beta"]
PYTHON
