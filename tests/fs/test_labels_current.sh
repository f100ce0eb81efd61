#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A label in current/ belongs to the image that was read before it, also while another reader has
# the file open since the previous epoch; that reader keeps its own content.
. "$(dirname "$0")/lib.sh"
dataset 12 4
job auto tensor.crop=32 job.epochs=3
job direct tensor.crop=32 job.epochs=3 view.io=direct
start
for name in auto direct; do
	"$PYTHON" - "$M/jobs/$name" <<'PY'
import os, sys

job = sys.argv[1]
current = f"{job}/current"
N = 48

def read(path):
    with open(path, "rb", buffering=0) as file:
        return file.read()

def labels(epoch):
    with open(f"{job}/epoch-{epoch:04d}.order", encoding="ascii") as file:
        return {int(line.split("\t")[0]): int(line.split("\t")[2]) for line in file}

held = []
for i in range(N):
    read(f"{current}/{i:08d}.ppm")
    held.append(os.open(f"{current}/{i:08d}.cls", os.O_RDONLY))
found = []
for i in range(N):
    read(f"{current}/{i:08d}.ppm")
    found.append(int(read(f"{current}/{i:08d}.cls")))
first, second = labels(0), labels(1)
assert sum(first[i] != second[i] for i in range(N)) > N // 2
assert found == [second[i] for i in range(N)]
assert [int(os.pread(fd, 100, 0)) for fd in held] == [first[i] for i in range(N)]
for fd in held:
    os.close(fd)
assert [int(read(f"{job}/epoch-0000/{i:08d}.cls")) for i in range(N)] == [first[i] for i in range(N)]
PY
done
settled_requests() {
	local first second
	first=$(counter requests_read)
	second=$(counter requests_read)
	cat "$M/jobs/$1/current"/*.cls >/dev/null
	echo $(($(counter requests_read) - second - (second - first)))
}
equal "requests to read labels" "$(settled_requests auto)" 0
(($(settled_requests direct) > 0)) || fail "io = direct is not"
