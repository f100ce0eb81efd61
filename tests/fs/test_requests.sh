#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The FUSE requests for reading are counted, and are no more than needed: after listing a directory,
# a reader opens, reads once and closes; names and attributes are known by then.
. "$(dirname "$0")/lib.sh"
dataset 3 8 600x500
job image tensor.crop=300 view.layout=classes
job array tensor.crop=300 tensor.format=npy
job large tensor.resize=1200x1000
job several
job exact view.size=exact
start

# Requests of other kinds count, too.
df "$M" >/dev/null
kinds=0
for kind in lookup getattr readdir open read release; do
	kinds=$((kinds + $(counter requests_$kind)))
done
(($(counter requests) > 6 && kinds > 6)) || fail "$(cat "$M/stats")"

# opens, reads all bytes at once, and closes, as PIL does
"$PYTHON" - "$M" "$(epoch image)" <<'PY'
import os, sys, time

mount, epoch = sys.argv[1:]
KINDS = ("lookup", "getattr", "readdir", "open", "read", "release")


def look():
    """The counters, after the kernel has closed all files."""
    while True:
        with open(f"{mount}/stats", encoding="ascii") as file:
            counters = dict(line.split() for line in file)
        if counters["open_files"] == "0":
            return {kind: int(counters[f"requests_{kind}"]) for kind in KINDS}
        looks[0] += 1
        time.sleep(0.01)


looks = [0]
files = [os.path.join(top, name) for top, _, names in os.walk(epoch) for name in names]
assert len(files) == 24
look()
first = look()
each = {kind: value - first[kind] for kind, value in look().items()}
begin, looks[0] = look(), 0
for path in files:
    with open(path, "rb") as file:
        assert len(file.read(20)) == 20
        assert len(file.read(os.path.getsize(path) - 20)) == 300 * 300 * 3 - 5
end = look()
asked = {k: end[k] - begin[k] - (looks[0] + 1) * each[k] for k in KINDS}
assert asked == {"lookup": 0, "getattr": 0, "readdir": 0, "open": 24, "read": 24,
                 "release": 24}, asked
PY

block() {
	stat -c %o "$1"
}
equal "block of an image" "$(block "$(epoch image)/class0/00000000.ppm")" 524288 # 270,015 bytes
equal "block of a label" "$(block "$(epoch several)/00000000.cls")" 4096
equal "block of an array" "$(block "$(epoch array)/00000000.npy")" 4096
equal "block of a large image" "$(block "$(epoch large)/00000000.ppm")" 1048576
equal "block of the largest of several" "$(block "$(epoch several)/00000000.ppm")" 1048576
equal "block of what is not known yet" "$(block "$(epoch exact)/00000000.ppm")" 65536
