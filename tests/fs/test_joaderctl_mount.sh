#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl mount: several mounts whose root is the directory of one job; all show the same job, and
# each is unmounted separately.
. "$(dirname "$0")/mounts.sh"
# dotdot DIRECTORY: prints the inode number of .. in the listing of the directory
dotdot() {
	"$PYTHON" - "$1" <<'END'
import ctypes, sys

class Entry(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_uint64), ("off", ctypes.c_int64), ("reclen", ctypes.c_uint16),
                ("type", ctypes.c_uint8), ("name", ctypes.c_char * 256)]

libc = ctypes.CDLL(None)
libc.opendir.restype = ctypes.c_void_p
libc.readdir.argtypes = [ctypes.c_void_p]
libc.readdir.restype = ctypes.POINTER(Entry)
directory = libc.opendir(sys.argv[1].encode())
while (entry := libc.readdir(directory).contents).name != b"..":
    pass
print(entry.ino)
END
}

dataset 2 8
job a tensor.crop=32 job.epochs=2
start
alone=$(sessions)
mkdir "$T/x" "$T/y"
equal "message" "$(ctl mount a "$T/x")" "mounted a on $T/x"
ctl mount a "$T/y" >/dev/null
equal "sessions" "$(sessions)" $((alone + 2))

equal "names" "$(ls "$T/x")" "$(ls "$M/jobs/a")"
equal "the root's number" "$(stat -c %i "$T/x")" 1
equal "the number of .. in the root" "$(dotdot "$T/x")" 1
equal "the number of .. in an epoch" "$(dotdot "$T/x/epoch-0000")" 1
equal "a file's number" "$(stat -c %i "$T/x/epoch-0000/00000005.ppm")" \
	"$(stat -c %i "$(epoch a)/00000005.ppm")"
! touch "$T/x/new" 2>/dev/null || fail "it can be written"

# Two mounts read the positions in turn, then the third one reads all.
for ((i = 0; i < 16; i++)); do
	from=$T/x
	((i % 2)) || from=$T/y
	md5sum <"$from/epoch-0000/$(printf %08d "$i").ppm"
done >"$T/sums"
once a 16
cmp "$M/jobs/a/epoch-0000.order" "$T/x/epoch-0000.order"
for file in "$(epoch a)"/*.ppm; do
	md5sum <"$file"
done | cmp - "$T/sums"

# This listing takes several requests.
"$PYTHON" - "$T/x/epoch-0001" "$M/jobs/a/epoch-0001" <<'END'
import os, sys
names = [entry.name for entry in os.scandir(sys.argv[1])]
assert sorted(names) == sorted(os.listdir(sys.argv[2])) and len(names) == 32, names
END

umount "$T/x"
wait_sessions $((alone + 1))
equal "names in x" "$(ls "$T/x")" ""
cat "$T/y/epoch-0001"/*.ppm >/dev/null
once a 16 0001
fusermount3 -u "$T/y"
wait_sessions "$alone"
nothing_held
stop
