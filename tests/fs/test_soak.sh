#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Errors of readers, clients, files and disks are repeated with one daemon: its memory, descriptors
# and threads do not grow. Takes seconds in make check, three minutes in make check-long.
. "$(dirname "$0")/lib.sh"
alone
mount -t tmpfs -o size=4m,mode=700 tmpfs "$T/state" 2>/dev/null ||
	skip "needs root, to mount a tmpfs"
dataset 3 24
"$PYTHON" - "$D" <<-'END'
	import os, sys
	from PIL import Image
	top = sys.argv[1]
	os.mkdir(f"{top}/class3")
	Image.new("L", (1, 65500), 77).save(f"{top}/class3/narrow.jpg")
	open(f"{top}/class3/torn.jpg", "wb").write(open(f"{top}/class0/0000.jpg", "rb").read()[:900])
END
mkdir "$T/elsewhere"
config joaderfs.cache=8M joaderfs.max_pixels=10000000 joaderfs.workers=2
start

add() { job_text "$@" job.epochs=3 >"$T/$1.ini" && ctl add "$T/$1.ini" >/dev/null; }
refuses() { ! "$@" >/dev/null 2>&1 || fail "was not refused: $*"; }

wrong_jobs() {
	refuses add wrong tensor.crop=none
	refuses add wrong "job.where=id in (select id from samples)"
	refuses add wrong tensor.crop=2000 view.layout=batch view.batch=512
	refuses ctl rm nobody
}

wrong_clients() {
	"$PYTHON" "$FS/control_clients.py" "$T/socket" silent 60 </dev/null >/dev/null
	"$PYTHON" "$FS/control_clients.py" "$T/socket" unread 20 order flat </dev/null >/dev/null
}

wrong_readers() {
	local reader readers=()
	for reader in flat classes batch tar; do
		find "$M/jobs/$reader/current/" -type f -exec cat {} + >/dev/null 2>&1 &
		readers+=($!)
	done
	sleep 0.3
	kill -KILL "${readers[@]:0:2}" 2>/dev/null || true
	wait "${readers[@]}" 2>/dev/null || true
	find "$M/jobs" -name '*.order' -exec cat {} + >/dev/null
}

wrong_files() {
	mv "$D/class1" "$T/outside"
	ln -s "$T/outside" "$D/class1"
	cat "$(epoch flat 0001)"/*.ppm >/dev/null 2>&1 || true
	rm "$D/class1"
	mv "$T/outside" "$D/class1"
	cat "$(epoch large)"/*.ppm >/dev/null 2>&1 || true
}

full_state() {
	cat /dev/zero >"$T/state/full" 2>/dev/null || true
	cat "$(epoch classes 0001)"/*/*.ppm >/dev/null || fail "no epoch without room"
	rm "$T/state/full"
}

mounts() {
	ctl grant flat >/dev/null
	ctl mount flat "$T/elsewhere" >/dev/null
	cat "$T/elsewhere/current/00000000.ppm" >/dev/null
	umount "$T/elsewhere"
	ctl revoke flat >/dev/null
	kill -USR1 "$PID"
	kill -ALRM "$PID"
}

cycle() {
	add flat tensor.crop=64 "job.where=label < 3"
	add classes tensor.crop=64 view.layout=classes "job.where=label < 3"
	add batch tensor.crop=64 view.layout=batch view.batch=16 "job.where=label < 3"
	add tar tensor.crop=32 view.layout=tar view.shard=16 augment.hflip=0.5 "job.where=label < 3"
	add large tensor.resize=16 "job.where=label = 3"
	wrong_jobs
	wrong_readers
	wrong_clients
	wrong_files
	full_state
	mounts
	ctl rm '*' >/dev/null
	nothing_held
}

# catalogues: counts open catalogues. They stay open: one for each thread that has asked for a
# path.
catalogues() {
	find "/proc/$PID/fd" -type l -lname '*.sqlite' | wc -l
}

descriptors() {
	find "/proc/$PID/fd" -type l ! -lname '*.sqlite' | wc -l
}

# threads: counts threads, except reading threads, which are added for slow storages, up to a
# limit, and stay.
threads() {
	cat "/proc/$PID"/task/*/comm | grep -cvx read
}

# held: prints allocated KiB, descriptors, threads and catalogues, after closed ones are gone
held() {
	local before='' now=none
	while [[ $now != "$before" ]]; do
		before=$now
		sleep 0.3
		now="$(($(counter heap_bytes) >> 10)) $(descriptors) $(threads) $(catalogues)"
	done
	echo "$now"
}

cycles=0
# cycles_for SECONDS: repeats the errors
cycles_for() {
	local end=$((SECONDS + $1))
	while ((SECONDS < end)); do
		cycle
		cycles=$((cycles + 1))
	done
}

cycles_for "$(effort 5 60)"
before=$(held)
read -r memory descriptors threads catalogues <<<"$before"
cycles_for "$(effort 10 180)"
now=$(held)
read -r memory_now descriptors_now threads_now catalogues_now <<<"$now"
echo "$cycles cycles: $memory KiB, later $memory_now; $descriptors descriptors, $threads threads;" \
	"$catalogues open catalogues, later $catalogues_now"
equal "descriptors" "$descriptors_now" "$descriptors"
equal "threads" "$threads_now" "$threads"
# Memory that threads keep counts as allocated: up to 100 KiB for an open catalogue.
((memory_now < memory + 512 + 128 * (catalogues_now - catalogues))) ||
	fail "memory: $memory KiB, later $memory_now"
