#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# While a file is open, the kernel reads it from one place only: later opens get the same place, or
# are served by the daemon, and none fails. Open files keep their content, whatever is removed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/passthrough.sh"
dataset 3 8
one=(tensor.crop=40 job.order=sequential)
job a "${one[@]}" job.epochs=4
job b "${one[@]}" view.io=direct
config joaderfs.cache=$((3 * 40 * 40 * 3))
start_passing

expected() {
	cat "$(epoch b)/$(printf %08d "$1").ppm"
}
# same N FILE: checks that the file is sample N
same() {
	cmp "$2" <(expected "$1") || fail "$2 is not sample $1"
}

# Several opens of a file that would be evicted.
exec 3<"$(epoch a)/00000002.ppm" 4<"$(epoch a)/00000002.ppm"
cat "$(epoch a)"/*.ppm >/dev/null
exec 5<"$(epoch a)/00000002.ppm"
for fd in 3 4 5; do same 2 - <&$fd; done
exec 3<&- 4<&- 5<&-
readers=()
for _ in 1 2 3 4; do
	diff -r "$(epoch a)" "$(epoch b)" &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader" || fail "readers at once see differences"; done

# A mapping outlives its file and its tensor.
"$PYTHON" - "$(epoch a)" <<'PY'
import mmap, os, sys

fd = os.open(f"{sys.argv[1]}/00000001.ppm", os.O_RDONLY)
before = os.pread(fd, 1 << 16, 0)
mapping = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ)
os.close(fd)
for name in sorted(os.listdir(sys.argv[1])):
    with open(f"{sys.argv[1]}/{name}", "rb") as file:
        file.read()
assert mapping[:] == before
PY

# current/ continues while a file of it is open: later opens get the open file's sample.
C=$M/jobs/a/current
read_rest "$C" 24 # of epoch 0, which is read already: this begins the next
exec 3<"$C/00000000.ppm"
read_rest "$C" 24
read_rest "$C" 24
passes=$(calm counter opens_passed_through)
cmp "$C/00000000.ppm" "$(epoch a 0001)/00000000.ppm"
cmp "$C/00000000.ppm" - <&3
(($(calm counter opens_passed_through) == passes + 3)) || fail "it was not passed through"
exec 3<&-

# The job, the daemon's engine or the daemon ends while a file is open.
exec 3<"$(epoch a)/00000005.ppm"
expected 5 >"$T/five"
ctl rm a
cmp "$T/five" - <&3
exec 3<&-
job_text c "${one[@]}" >"$T/c.ini"
ctl add "$T/c.ini" >/dev/null
exec 4<"$(epoch c)/00000006.ppm"
cat "$(epoch c)/00000006.cls" >/dev/null
cat "$(epoch c)/00000006.ppm" >"$T/six"
stop
cmp "$T/six" - <&4
exec 4<&-
