#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A start warns, on the terminal and in the log, about settings that are allowed but hardly
# intended, and about nothing else; and it says what to do without /dev/fuse.
. "$(dirname "$0")/lib.sh"
mkdir "$T/images # all"
D="$T/images # all"
dataset 3 8
mkdir -p "$T/parts/train" "$T/parts/val"
cp "$D/class0/0000.jpg" "$T/parts/train"
cp "$D/class0/0001.jpg" "$T/parts/val"
cp "$D/class0/0000.jpg" "$T/parts/beside.jpg"

ini() { # CACHE : of datasets that are not what they should be
	cat >"$T/joaderfs.ini" <<-END
		[joaderfs]
		cache = $1
		state = $T/state
		socket = $T/socket
		jobs = jobs.d
		[dataset images]
		path = $D
		[dataset parts]
		path = $T/parts
	END
}
# begin: starts the daemon in the background; $T/terminal gets its output
begin() {
	rm -f "$T/state/joaderfs.log"
	"$PROGRAM" "$T/joaderfs.ini" "$M" >"$T/terminal" 2>&1 || fail "$(<"$T/terminal")"
}
end() {
	umount "$M" 2>/dev/null || fusermount3 -u "$M"
	flock -w 20 "$T/state/lock" true || fail "it does not end"
}
says() {
	local text
	for text; do
		grep -qF -- "joaderfs: warning: $text" "$T/terminal" ||
			fail "'$text' is not on the terminal: $(<"$T/terminal")"
		grep -qF -- "Z warning: $text" "$T/state/joaderfs.log" ||
			fail "'$text' is not in the log: $(<"$T/state/joaderfs.log")"
	done
}

# --- warnings ---
job a tensor.crop=32
job b tensor.crop=64 job.dataset=images
touch "$M/hidden"
ini 64K
begin
says "$T/joaderfs.ini:7:[dataset images]:path: \"# all\" belongs to the value" \
	"dataset parts: its classes, train, val, look like parts of a dataset" \
	"dataset parts: 1 images lie beside the class directories" \
	"cache = 64K is less than the 360K of the jobs' lookahead" \
	"mount point $M: is not empty"
equal "warnings" "$(grep -c warning "$T/terminal")" 5
grep -q "dataset images: 24 samples" "$T/state/joaderfs.log" || fail "not in the log"
job_text c tensor.crop=64 >"$T/c.ini"
ctl add "$T/c.ini" >"$T/out"
grep -q "^warning: cache = 64K is less than the" "$T/out" ||
	fail "joaderctl does not warn: $(<"$T/out")"
end

ini 900T
begin
says "$T/joaderfs.ini:[joaderfs]:cache: 900T is more than the memory of this machine, "
end

# --- no warnings ---
rm -r "$M/hidden" "$T/parts/beside.jpg"
mv "$D" "$T/images"
D=$T/images
mv "$T/parts/train" "$T/parts/tulip"
mv "$T/parts/val" "$T/parts/test" # one class of two may be called so
ini 64M
begin
! grep warning "$T/terminal" || fail "it warns of nothing"
end

# --- mistakes ---
for path in '"/data"' "'/data'" \~/data; do
	ini 64M
	printf '[dataset x]\npath = %s\n' "$path" >>"$T/joaderfs.ini"
	refused ":[dataset x]:path: found \"$path\"" "without quotes and without ~"
done
ini "4G # memory"
refused 'found "4G # memory"' "after a value, a comment begins with ;"
ini 64M

# --- /dev/fuse is missing ---
if ((EUID != 0)) || ! unshare -m true 2>/dev/null; then exit 0; fi
unshare -m bash -c 'mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && "$@"' \
	- "$PROGRAM" -f "$T/joaderfs.ini" "$M" >"$T/terminal" 2>&1 && fail "it started"
for text in '/dev/fuse: No such file or directory; run "modprobe fuse" as root' \
	"docker run --device /dev/fuse"; do
	grep -qF -- "$text" "$T/terminal" || fail "$(<"$T/terminal")"
done
