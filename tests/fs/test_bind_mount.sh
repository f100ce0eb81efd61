#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Bind mounts of a job's directory, or of an epoch's, as containers get them: they have the same
# content, and fail when the job or the daemon has gone.
if ((EUID == 0)) && [[ -z ${OWN_MOUNTS-} ]]; then
	OWN_MOUNTS=1 exec unshare -m bash "$0"
fi
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "only root may mount --bind"
dataset 2 4
job a tensor.crop=32 job.epochs=2
job b tensor.crop=32
start
mkdir "$T/job" "$T/epoch" "$T/other"
mount --bind "$M/jobs/a" "$T/job" || skip "can't mount here"
mount --bind "$(epoch a)" "$T/epoch"
mount --bind "$M/jobs/b" "$T/other"

equal "files" "$(cat "$T/epoch"/*.ppm | wc -c)" $((8 * (13 + 32 * 32 * 3)))
once a 8
equal "names" "$(ls "$T/epoch")" "$(ls "$(epoch a)")"
cat "$T/job/epoch-0001"/*.ppm >/dev/null
once a 8 0001
equal "inode" "$(stat -c %i "$T/epoch/00000003.ppm")" "$(stat -c %i "$(epoch a)/00000003.ppm")"

ctl rm a
for file in "$T/job/status" "$T/job/epoch-0000/00000000.ppm" "$T/epoch/00000000.ppm"; do
	! cat "$file" 2>"$T/error" || fail "$file can be read after the job was removed"
	grep -q "No such file" "$T/error" || fail "$(cat "$T/error")"
done
cat "$T/other/epoch-0000/00000000.ppm" >/dev/null

stop
! cat "$T/other/status" 2>"$T/error" || fail "it can be read, with no daemon"
grep -q "not connected" "$T/error" || fail "$(cat "$T/error")"
umount "$T/job" "$T/epoch" "$T/other"
