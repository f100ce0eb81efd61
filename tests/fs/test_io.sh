#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# io = direct, cached and auto: which files can be mapped, and that a second read gives the same
# bytes, from the kernel's cache or not. Files that bypass the cache can be mapped with Linux 6.6.
. "$(dirname "$0")/lib.sh"
dataset 3 8
size=(tensor.resize=48 tensor.crop=40)
job auto "${size[@]}" tensor.format=npy
job direct "${size[@]}" tensor.format=npy view.io=direct
job cached "${size[@]}" tensor.format=npy view.io=cached
job raw "${size[@]}" tensor.format=raw view.io=cached
job exact tensor.format=npy view.io=cached view.size=exact
job batch "${size[@]}" view.layout=batch view.batch=10
job directbatch "${size[@]}" view.layout=batch view.batch=10 view.io=direct
start

# map FILE: maps the file shared, as numpy does, and prints the sum of its numbers
map() {
	"$PYTHON" -c 'import sys, numpy
if sys.argv[1].endswith(".raw"):
    print(numpy.memmap(sys.argv[1], dtype=numpy.uint8, mode="r").sum())
else:
    print(numpy.load(sys.argv[1], mmap_mode="r").sum())' "$1"
}

refuses_mapping() {
	! map "$1" >"$T/out" 2>&1 || fail "$1 can be mapped: then the documents are wrong"
	grep -q "No such device" "$T/out" || fail "$(cat "$T/out")"
}

# linux_is_at_least VERSION: compares the kernel's version
linux_is_at_least() {
	printf '%s\n' "$1" "$(uname -r)" | sort --version-sort --check=quiet
}

mappable=(cached/epoch-0000/00000003.npy raw/epoch-0000/00000003.raw
	exact/epoch-0000/00000003.npy batch/epoch-0000/batch-000000.npy
	batch/epoch-0000/batch-000002.labels.npy)
direct=(auto/epoch-0000/00000003.npy direct/epoch-0000/00000003.npy
	directbatch/epoch-0000/batch-000000.npy)
if linux_is_at_least 6.6; then
	mappable+=("${direct[@]}")
else
	for file in "${direct[@]}"; do
		refuses_mapping "$M/jobs/$file"
	done
fi
for file in "${mappable[@]}"; do
	map "$M/jobs/$file" >"$T/mapped"
	"$PYTHON" -c 'import sys, numpy
if sys.argv[1].endswith(".raw"):
    print(numpy.fromfile(sys.argv[1], dtype=numpy.uint8).sum())
else:
    print(numpy.load(sys.argv[1]).sum())' "$M/jobs/$file" >"$T/read"
	equal "sum of $file" "$(cat "$T/read")" "$(cat "$T/mapped")"
done

# A file that is open or mapped is not consumed; its last close consumes it.
equal "consumed by mapping and reading" "$(status_of cached consumed)" 1
exec 3<"$(epoch cached)/00000005.npy"
equal "consumed while it is open" "$(status_of cached consumed)" 1
exec 3<&-

# The second read of an explicit epoch comes from the kernel's cache.
cat "$(epoch cached)"/*.npy >"$T/first"
reads=$(counter reads)
cat "$(epoch cached)"/*.npy >"$T/second"
cmp "$T/first" "$T/second"
equal "read requests for what the kernel has" "$(counter reads)" "$reads"
# Batches bypass the cache if they can still be mapped, and have the same bytes in both cases.
if linux_is_at_least 6.6; then
	reads=$(counter reads)
	cat "$(epoch batch)"/*.npy >"$T/first"
	cat "$(epoch batch)"/*.npy >"$T/second"
	cmp "$T/first" "$T/second"
	(($(counter reads) >= reads + 6)) || fail "batches came from the kernel's cache"
fi
cat "$(epoch direct)"/*.npy >"$T/first"
reads=$(counter reads)
cat "$(epoch direct)"/*.npy >"$T/second"
cmp "$T/first" "$T/second"
(($(counter reads) > reads)) || fail "io = direct came from the kernel's cache"
once cached 24
once direct 24

# Files of the same position in two jobs are different files.
! cmp -s "$(epoch cached)/00000000.npy" "$(epoch direct)/00000000.npy" ||
	! cmp -s "$(epoch cached)/00000001.npy" "$(epoch direct)/00000001.npy" ||
	! cmp -s "$(epoch cached)/00000002.npy" "$(epoch direct)/00000002.npy" ||
	fail "two jobs have the same order"
