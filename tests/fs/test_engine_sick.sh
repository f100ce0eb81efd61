#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# When engines die again and again, the mount stays: readers get EIO, and the log and joaderctl tell
# the cause. After a repair `joaderctl upgrade` starts a good engine. In both states a signal
# unmounts, even if the engine dies of it, and so does the engine when its supervisor is killed.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
ulimit -c 0
dataset 2 8
job a tensor.crop=32
config
touch "$T/go"
start --fault "fuse.answer:NONE:until=$T/go"
exec 5<"$(epoch a)/00000001.ppm" 6<"$(epoch a)/00000003.ppm"
first=$(md5sum <"$(epoch a)/00000000.ppm")
rm "$T/go"
cat "$(epoch a)/00000004.ppm" >/dev/null 2>&1 &
reader=$!
for _ in $(seq 200); do
	[[ $(counter open_files) != 3 ]] || break
	sleep 0.05
done
equal "open files, and one about to be answered" "$(counter open_files)" 3

# Meanwhile the ini has got a mistake.
cp "$T/joaderfs.ini" "$T/whole.ini"
echo "cach = 1G" >>"$T/joaderfs.ini"
kill -KILL "$(engine)"
for _ in $(seq 200); do
	! grep -q "too many engines" "$LOG" || break
	sleep 0.1
done
timeout 10 cat "$(epoch a)/00000002.ppm" >/dev/null 2>"$T/message" && fail "it can be read"
grep -q "Input/output error" "$T/message" || fail "$(cat "$T/message")"
mounted "$M" || fail "it is not mounted any more"
! wait "$reader" || fail "an open goes on"
exec 6<&-
touch "$T/go"
ctl status >"$T/message" 2>&1 && fail "joaderctl finds nothing wrong"
for text in "answers EIO" "cach" "joaderctl upgrade"; do
	grep -q "$text" "$T/message" || fail "no '$text': $(cat "$T/message")"
done
grep -q "error: too many engines have ended.*cach" "$LOG" || fail "the log does not say it"

# After the repair, open files are read on.
cp "$T/whole.ini" "$T/joaderfs.ini"
ctl upgrade
equal "the first file" "$(md5sum <"$(epoch a)/00000000.ppm")" "$first"
cmp "$(epoch a)/00000001.ppm" <&5
exec 5<&-
read_epoch a
once a 16
nothing_held
stop

# The engine dies when it is told to end.
start --fault control.end:BUG
status=0
kill -TERM "$PID"
wait "$PID" || status=$?
PID=
((status == 1)) || fail "it ended with $status"
! mounted "$M" || fail "it left its mount"
[[ ! -e $T/socket ]] || fail "it left its socket"

start
orphan=$(engine)
kill -KILL "$PID"
wait "$PID" || true
PID=
for _ in $(seq 200); do
	kill -0 "$orphan" 2>/dev/null || break
	sleep 0.05
done
! mounted "$M" || fail "the engine left its mount"
