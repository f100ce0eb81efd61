#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A dataset never has samples from a mount of joaderfs: the daemon's own, those of single jobs,
# those of other daemons, bind mounts, and mounts that no process serves. The mount point is no
# class. A dataset on such a mount is refused.
. "$(dirname "$0")/lib.sh"
dataset 2 4
job a tensor.crop=32 job.epochs=9
job mirror tensor.crop=32 view.layout=mirror
config
sed -i "s|^path = .*|path = $M/data|" "$T/joaderfs.ini"
mkdir "$M/data"
refused "$M"
rmdir "$M/data"

# found: prints the number of samples and the classes of the dataset
found() {
	echo "$(sed -n 's/^samples *//p' "$M/datasets/images/info") in $(tr '\n' ' ' \
		<"$M/datasets/images/classes.txt")"
}

# scanned: checks that a rescan ends, finds the same samples, and reads nothing from a mount
scanned() {
	local before
	before=$(counter samples_served)
	timeout 20 "$BUILD/joaderctl" --socket "$T/socket" dataset rescan images \
		>"$T/rescan" 2>&1 || fail "rescan with $1: $(cat "$T/rescan")"
	equal "found with $1" "$(found)" "8 in class0 class1 "
	equal "samples that the rescan took with $1" "$(counter samples_served)" "$before"
}

# daemon PLACE OPTION...: starts another daemon, whose dataset is a copy
daemon() {
	local place=$1
	shift
	mkdir -p "$T/other/jobs.d" "$place"
	sed "s|$T/s|$T/other/s|; s|^path = .*|path = $T/copy|" "$T/joaderfs.ini" \
		>"$T/other/joaderfs.ini"
	cp "$T/jobs.d/mirror.ini" "$T/other/jobs.d"
	"$PROGRAM" "$T/other/joaderfs.ini" "$place" -f --no-supervisor "$@" >"$T/other/log" 2>&1 &
	OTHER=$!
	while [[ ! -e $place/README ]]; do
		kill -0 "$OTHER" 2>/dev/null || fail "it ended: $(cat "$T/other/log")"
		sleep 0.05
	done
}

# --- mounts inside the tree
rm "$T/joaderfs.ini"
config
cp -r "$D" "$T/copy"
M=$D/mnt
mkdir -p "$M/below"
cp "$D/class0"/*.jpg "$M/below" # which the mount hides
start
equal "found at the start" "$(found)" "8 in class0 class1 "
scanned "the own mount"

mkdir "$D/job"
ctl mount mirror "$D/job" >/dev/null
scanned "a mount of a job"
mkdir "$D/bound"
mount --bind "$M/jobs/mirror/current/class0" "$D/bound"
scanned "a part of the own mount, bound"
touch "$D/class1/9999.jpg"
mount --bind "$M/jobs/mirror/current/class0/0000.jpg.ppm" "$D/class1/9999.jpg"
scanned "a file of the own mount, bound"
umount "$D/class1/9999.jpg"
rm "$D/class1/9999.jpg"
ln -s ../mnt/jobs/mirror/current/class0 "$D/class1/link"
scanned "a link to the own mount"
rm "$D/class1/link"
daemon "$D/other"
scanned "another daemon's mount"
kill -STOP "$OTHER"
scanned "another daemon's mount, where nobody answers"
kill -CONT "$OTHER"
grep -q "mounts of joaderfs" "$T/rescan" || fail "the rescan does not say so: $(cat "$T/rescan")"

# --- samples that lie under another file system, which no table of mounts shows
mkdir "$D/over"
if mount -t overlay -o "lowerdir=$M/jobs/a/current:$T/copy/class0" over "$D/over" 2>"$T/over"; then
	before=$(counter samples_served)
	timeout 20 "$BUILD/joaderctl" --socket "$T/socket" dataset add below \
		--set "path=$D" --set symlinks=follow >"$T/add" 2>&1 || fail "$(cat "$T/add")"
	equal "samples that a scan took below another one" "$(counter samples_served)" "$before"
	umount "$D/over"
fi
rmdir "$D/over"

# --- a mount over a class hides its images: the dataset stays unchanged
ctl mount a "$D/class1" >/dev/null
! ctl dataset rescan images >"$T/rescan" 2>&1 || fail "a class is gone: $(found)"
equal "found behind a mount" "$(found)" "8 in class0 class1 "
umount "$D/class1"

# --- datasets on mounts
for place in "$D/job/current" "$D/other/jobs/mirror/current" "$D/bound"; do
	! ctl dataset add own --set "path=$place" >"$T/add" 2>&1 || fail "$place was added"
	grep -q "is on a mount of joaderfs" "$T/add" || fail "$place: $(cat "$T/add")"
done
umount "$D/bound" "$D/job"
kill -TERM "$OTHER"
wait "$OTHER"
rmdir "$D/bound" "$D/job" "$D/other"

# --- after another start the mount point is no class, either
stop
start
equal "found after another start" "$(found)" "8 in class0 class1 "
read_epoch a
once a 8
