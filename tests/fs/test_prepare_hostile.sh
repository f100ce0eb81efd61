#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Programs that die, hang, fill their memory or answer nonsense lose only the samples for which they
# fail, which the log names. Kills of processes and of the engine lose nothing. An upgrade, and the
# end of the daemon, leave no process behind.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
# beside: it waits for programs that sleep
HELPER=$ROOT/tools/prepare/joaderfs_prepare.py
chmod 755 "$T"
dataset 2 6

# program NAME LINE...: writes a program with these lines; number: of the sample's file
program() {
	printf '%s\n' "import os, time, numpy" "def prepare(data, name):" \
		"    number = int(os.path.splitext(os.path.basename(name))[0])" \
		"    array = numpy.full(5, number, numpy.int64)" \
		"${@:2}" "    return array" | sed '4,$s/^ */    /' >"$T/$1.py"
	printf '[preparation %s]\ncommand = %s %s %s/%s.py\n' "$1" "$PYTHON" "$HELPER" "$T" "$1"
	printf 'shape = 5\ndtype = int64\nprocesses = 2\n'
}
config joaderfs.workers=1
{
	program hang "time.sleep(99 if number == 0 else 0)"
	echo "timeout = 60s"
	for name in slow killed engine upgraded; do
		program $name "time.sleep(0.1)"
	done
	program die "number == 3 and os._exit(7)"
	program big "numpy.ones(1 << 40)"
	echo "memory = 1G"
	program shape "array = array[:4]"
	program who "array[:] = os.getuid()"
	echo "user = root"
} >>"$T/joaderfs.ini"
for name in hang slow die big shape who; do
	job "$name" tensor.prepare=$name view.layout=mirror
done
job plain tensor.crop=32
job skips tensor.prepare=die job.bad_sample=skip job.epochs=2
start

# read_all JOB: prints the files of a job with layout = mirror, and their contents
read_all() {
	"$PYTHON" - "$(epoch "$1")" <<'END'
import glob, os, sys, numpy
for path in sorted(glob.glob(sys.argv[1] + "/*/*")):
    number = int(os.path.basename(path)[:4])
    try:
        array = numpy.load(path)
        assert array.dtype == numpy.int64 and array.shape == (5,), path
        assert (array == number).all(), (path, array)
    except OSError as error:
        print("EIO" if error.errno == 5 else error, path.split("/")[-2], number)
END
}
of_programs() { # PIDs of processes that the daemon has started
	{ grep -lzE "^$T/[a-z]*\.py$" /proc/[0-9]*/cmdline 2>/dev/null || true; } | cut -d/ -f3
}

# both processes of a program hang: other programs, and images, continue with one worker
timeout 100 cat "$(epoch hang)"/class0/0000.* >/dev/null 2>&1 &
hanging=$!
timeout 100 cat "$(epoch hang)"/class1/0000.* >/dev/null 2>&1 &
for _ in $(seq 200); do
	(($(of_programs | wc -l) != 2)) || break
	sleep 0.05
done
read_epoch plain
once plain 12
equal "of slow" "$(read_all slow)" ""
kill -0 $hanging || fail "what hangs did not"

equal "of die" "$(read_all die)" $'EIO class0 3\nEIO class1 3'
for class in 0 1; do
	grep -q "warning: preparation die: class$class/0003.jpg: the process has ended with status 7; joaderfs will try again" "$LOG" ||
		fail "the log has no first try: $(cat "$LOG")"
	grep -q "dataset images: .*/class$class/0003.jpg: preparation die: the process has ended with status 7; readers get EIO" "$LOG" ||
		fail "the log has no second try: $(cat "$LOG")"
done
equal "of big" "$(read_all big | wc -l)" 12
grep -q "preparation big: .*Unable to allocate" "$LOG" || fail "no word of memory"
equal "of shape" "$(read_all shape | wc -l)" 12
grep -qF 'preparation shape: ValueError: an array of <i8 (4,), expected: <i8 (5,)' "$LOG" ||
	fail "no word of the shape"
equal "user that was asked for" \
	"$("$PYTHON" -c "import numpy; print(numpy.load('$(echo "$(epoch who)"/class0/0001.*)')[0])")" 0

# bad samples are left out of the next epoch
read_epoch skips || true
equal "samples of the next epoch" "$(find "$(epoch skips 0001)" -name '*.npy' | wc -l)" 10
read_epoch skips 0001

# disturbances while a program works: a killed process, a killed engine, an upgrade
disturbed() { # JOB COMMAND...
	job_text "$1" tensor.prepare="$1" view.layout=mirror | ctl add - >/dev/null
	read_all "$1" >"$T/read" &
	local reader=$! n
	sleep 0.2
	kill -0 $reader || fail "the reader of $1 was not disturbed"
	"${@:2}"
	wait $reader || fail "a reader of $1 failed"
	equal "of $1" "$(cat "$T/read")" ""
	n=$(of_programs | wc -l)
	((n > 0)) || fail "no process is left, or none was seen"
}
kill_one() { # only one, because the second try of its sample must not be hit, too
	local pid
	pid=$(of_programs | tail -n 1)
	[[ -z $pid ]] || kill -KILL "$pid" 2>/dev/null || true
}
disturbed killed kill_one
before=$(of_programs | sort)
disturbed engine kill_engine
disturbed upgraded upgrade_engine
for pid in $before; do
	! of_programs | grep -qx "$pid" || fail "$pid has outlived its engine"
done
kill $hanging 2>/dev/null || true
stop
equal "processes after the end" "$(of_programs)" ""

# a missing command is reported at once
sed -i "s,^command.*/slow.py,command = /nowhere/program," "$T/joaderfs.ini"
refused '[preparation slow]:command: found "/nowhere/program"'
