#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A job without `epochs` goes on without end: its epochs get numbers of five digits, too, before and
# after a restart. A job with `epochs` reports its end.
. "$(dirname "$0")/lib.sh"
dataset 1 2 48x36
endless() {
	job "$@" tensor.crop=32 job.keep_epochs=2
	sed -i /^epochs/d "$T/jobs.d/$1.ini"
}
endless a
endless mirror view.layout=mirror
job two tensor.crop=32 job.epochs=2
mount -t tmpfs -o mode=700 tmpfs "$T/state" 2>/dev/null || true # thousands of files are written
start
equal "epochs of a" "$(status_of a epochs)" "unlimited"
equal "epochs of two" "$(status_of two epochs)" 2
! grep -q '^epochs' "$M/jobs/a/job.ini" || fail "a number of epochs in job.ini"
cmp "$M/jobs/mirror/epoch-10000/class0/0001.jpg.ppm" "$M/jobs/mirror/current/class0/0001.jpg.ppm"
[[ ! -e $M/jobs/mirror/epoch-16383 ]] || fail "an epoch without an inode"
[[ -e $M/jobs/mirror/epoch-16382 ]] || fail "the last epoch is not there"

for _ in 1 2 3; do
	cat "$M/jobs/two/current/"*.ppm >/dev/null
done
equal "state of two" "$(status_of two state)" finished

# read_epochs FIRST LAST: reads these epochs
read_epochs() {
	"$PYTHON" - "$M/jobs/a" "$@" <<-'PY'
		import sys
		for epoch in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
		    for position in 0, 1:
		        with open(f"{sys.argv[1]}/epoch-{epoch:04}/{position:08}.ppm", "rb") as file:
		            file.read()
	PY
}
last=$(effort 200 10001)
read_epochs 0 $((last - 1))
stop
start
read_epochs "$last" "$last"
once a 2 "$(printf %04d "$last")"
equal "epochs" "$(names "$M/jobs/a" | grep -c '^epoch-[0-9]*$')" 4
equal "state of a" "$(status_of a state)" waiting
