#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# An open that waits when the engine dies is answered by the next engine. Open files can be read on,
# and opened again with the same inode; positions keep their samples. Engines that omit one step of
# taking over are noticed. `joaderctl upgrade` replaces the engine in the same way, and refuses a
# program that can't follow.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
ulimit -c 0
dataset 2 12
job a tensor.crop=32 job.epochs=99
job b tensor.crop=32 view.layout=batch view.batch=8
job exact tensor.resize=40 view.size=exact job.epochs=99

file() { printf '%s/%08d.ppm' "$(epoch a)" "$1"; }

# The opens of positions 0 to 2 wait for their samples when the engine dies.
waiting_goes_on() {
	local readers=() i before
	rm -f "$T/go"
	before=$(counter requests_open)
	for i in 0 1 2; do
		cat "$(file $i)" >"$T/waited.$i" &
		readers+=($!)
	done
	for _ in $(seq 200); do
		(($(counter requests_open) < before + 3)) || break
		sleep 0.05
	done
	kill_engine "$1"
	touch "$T/go"
	for i in 0 1 2; do
		for _ in $(seq 100); do # without an answer the reader would wait for ever
			kill -0 "${readers[i]}" 2>/dev/null || break
			sleep 0.05
		done
		! kill -0 "${readers[i]}" 2>/dev/null || return 1
		[[ -s $T/waited.$i ]] && cmp "$T/waited.$i" "$(file $i)" || return 1
	done
}

open_goes_on() {
	touch "$T/go"
	exec 5<"$(file 3)" 6<"$(file 4)" 7<"$(epoch b)/batch-000000.npy" 8<"$M/README"
	cmp "$(file 3)" - <&5 || return 1
	order a | cut -f1-3,5 | sort >"$T/order"
	kill_engine "$1"
	cmp "$(file 3)" "$(file 3)" && cmp "$(file 4)" - <&6 &&
		cmp "$(epoch b)/batch-000000.npy" - <&7 && cmp "$M/README" - <&8 &&
		order a | cut -f1-3,5 | sort | comm -23 "$T/order" - | cmp - /dev/null ||
		return 1
	exec 5<&- 6<&- 7<&- 8<&-
}

start --fault "load.decode:NONE:until=$T/go"
for signal in KILL SEGV ABRT; do
	[[ $BUILD != *asan || $signal != SEGV ]] || continue # ASan's handler is slow
	waiting_goes_on $signal
	open_goes_on $signal
done
engines=$(grep -c "a new engine takes over" "$LOG")

# An upgrade to another program; a file that is no program is refused.
cp "$PROGRAM" "$T/next"
exec 5<"$(file 5)"
before=$(engine)
ctl upgrade "$T/next"
another_engine "$before"
equal "the program" "$(readlink "/proc/$(engine)/exe")" "$T/next"
cmp "$(file 5)" - <&5
exec 5<&-
before=$(engine)
ctl upgrade /bin/false 2>"$T/message" && fail "it can follow"
grep -q "false can't take over" "$T/message" || fail "$(cat "$T/message")"
equal "the engine" "$(engine)" "$before"
equal "engines that died" "$(grep -c "a new engine takes over" "$LOG")" "$engines"

# The engine has started a program before. Its threads take requests until they have ended.
"$PYTHON" "$FS/ask_the_dying.py" "$before" "$M/README" || (($? == 77)) ||
	fail "a request is lost with the engine"
another_engine "$before"
read_epoch a
once a 24
cat "$(epoch b)"/*.npy >/dev/null
nothing_held
stop

# An open whose answer no reader got does not count, in whatever state the answer was.
start --fault "fuse.answer:NONE:until=$T/go"
for path in "$(file 6)" "$M/jobs/a/current/00000007.ppm"; do
	rm -f "$T/go"
	cat "$path" >"$T/answered" &
	reader=$!
	for _ in $(seq 200); do
		[[ $(counter open_files) == 0 ]] || break
		sleep 0.05
	done
	equal "opens about to be answered" "$(counter open_files)" 1
	kill_engine KILL
	touch "$T/go"
	wait "$reader"
	[[ -s $T/answered ]] || fail "nothing was read"
	nothing_held
done

# A file that is open in current/ keeps its size.
exec 3<"$M/jobs/exact/current/00000000.ppm"
bytes=$(stat -L -c %s /dev/fd/3)
kill_engine KILL
equal "size of an open file" "$(stat -L -c %s /dev/fd/3)" "$bytes"
equal "bytes of an open file" "$(wc -c <&3)" "$bytes"
exec 3<&-

# A reader that waits for the close of a file in current/ does not wait longer because engines end
# meanwhile.
C=$M/jobs/a/current
exec 3<"$C/00000000.ppm"
read_rest "$C" 24
read_rest "$C" 24
(: <"$C/00000000.ppm") &
reader=$!
for _ in $(seq 60); do
	kill -0 "$reader" 2>/dev/null || break
	kill_engine KILL
done
! kill -0 "$reader" 2>/dev/null || fail "the file is not opened"
wait "$reader"
exec 3<&-
nothing_held

# A file is open when all processes end.
exec 5<"$(file 8)"
kill_engine KILL
stop
exec 5<&-

# A daemon that is asked to end while an engine takes over ends with status 0.
for pause in 0 0.003 0.006 0.01 0.02; do
	start
	ctl upgrade >/dev/null
	sleep $pause
	stop
done

# If the kernel can't send pending requests again, an upgrade is refused.
start --fault fuse.resend:EIO
before=$(engine)
ctl upgrade 2>"$T/message" && fail "it ends, and so would requests that are under way"
grep -q "send pending requests to another engine" "$T/message" || fail "$(cat "$T/message")"
equal "the engine" "$(engine)" "$before"
stop

# Each of these mutants must be noticed.
for mutant in fuse.resend journal.replay passthrough.new; do
	rm -rf "$T/state"
	mkdir "$T/state"
	start --fault "load.decode:NONE:until=$T/go" --fault "$mutant:EIO"
	if [[ $mutant == passthrough.new ]] && ! grep -q "the kernel itself reads the samples" "$LOG"; then
		echo "the kernel does not read samples by itself here"
	elif (waiting_goes_on KILL && open_goes_on KILL) >"$T/mutant" 2>&1; then
		fail "nobody notices that $mutant is left out"
	else
		echo "noticed that $mutant is left out: $(tail -n 1 "$T/mutant")"
	fi
	kill -TERM "$PID"
	wait "$PID" || true # one that can't live ends with 1
	PID=
done
