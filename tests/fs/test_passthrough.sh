#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Files that the kernel reads without the daemon equal, byte for byte, those that the daemon serves.
# The test checks which files these are, and that nothing is left of them when they are evicted.
. "$(dirname "$0")/lib.sh"
alone
. "$(dirname "$0")/passthrough.sh"
dataset 3 8
# Each pair of jobs has its own size. The two jobs of a pair share tensors, and the first job by
# name decides the head in the tensors' files.
pair() {
	job "$1" job.order=sequential "${@:2}"
	job "$1-direct" job.order=sequential view.io=direct "${@:2}"
}
pair ppm tensor.crop=40
pair npy tensor.crop=41 tensor.format=npy
pair raw tensor.crop=42 tensor.format=raw
pair exact tensor.resize=30 view.size=exact
pair source tensor.format=source view.layout=mirror view.extension=jpg
pair classes tensor.crop=43 view.layout=classes
job zarray job.order=sequential tensor.crop=40 tensor.format=npy # behind the head of another job
job zarray-direct job.order=sequential tensor.crop=40 tensor.format=npy view.io=direct
job zpadded tensor.resize=31 job.order=sequential
job zbmp tensor.crop=40 tensor.format=bmp
job zfloat tensor.crop=40 tensor.format=npy tensor.dtype=float32
job zflipped tensor.crop=40 augment.hflip=1
job zcached tensor.crop=40 view.io=cached
job zbatch tensor.crop=40 view.layout=batch
job ztar tensor.crop=40 view.layout=tar view.io=direct
start_passing

samples() {
	find "$(epoch "$1")" -type f ! -name '*.cls' | LC_ALL=C sort
}
contents() {
	local file
	samples "$1" | while read -r file; do cat "$file"; done
}
for name in ppm npy raw exact source classes; do
	equal "passed through of $name" "$(passed contents $name)" 24
	equal "passed through of $name-direct" "$(passed contents $name-direct)" 0
	diff -r "$(epoch $name)" "$(epoch $name-direct)" || fail "$name differs"
	equal "sizes of $name" "$(samples $name | xargs stat -c %s)" \
		"$(samples $name-direct | xargs stat -c %s)"
done
for name in zarray zpadded zbmp zfloat zflipped zcached zbatch ztar; do
	equal "passed through of $name" "$(passed contents $name)" 0
done
diff -r "$(epoch zarray)" "$(epoch zarray-direct)" || fail "behind another head it differs"

# There are no requests for reads, nor for labels.
first=$(counter requests_read)
second=$(counter requests_read) # reading the counters takes some requests
contents npy >/dev/null
cat "$(epoch npy)"/*.cls >/dev/null
equal "requests to read" "$(counter requests_read)" $((second + second - first))
diff <(cat "$(epoch npy)"/*.cls) <(cat "$(epoch npy-direct)"/*.cls) || fail "labels differ"
diff <(cat "$M/jobs/ppm/current"/*.cls) <(cat "$(epoch ppm)"/*.cls) || fail "current's differ"

"$PYTHON" - "$(epoch npy)" "$(epoch npy-direct)" <<'PY'
import mmap, os, random, sys

def pieces(path):
    """The file by random access."""
    fd = os.open(path, os.O_RDONLY)
    size = os.fstat(fd).st_size
    rng = random.Random(path[-12:])
    found = [size, os.pread(fd, 10, size), os.pread(fd, 10, size + 5000)]
    for _ in range(50):
        found.append(os.pread(fd, rng.randrange(1, 9000), rng.randrange(0, size)))
    for flags in (mmap.MAP_SHARED, mmap.MAP_PRIVATE):
        with mmap.mmap(fd, size, flags, mmap.PROT_READ) as mapping:
            found.append(mapping[:])
    os.lseek(fd, -77, os.SEEK_END)
    found.append(os.read(fd, 1000))
    for flags in (os.O_RDONLY | os.O_DIRECT, os.O_RDONLY | os.O_NOATIME):
        again = os.open(path, flags)
        with mmap.mmap(-1, 1 << 16) as page:
            found.append(os.readv(again, [page]))
            found.append(page[:size])
        os.close(again)
    try:
        mmap.mmap(fd, size, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
        sys.exit("it can be written to")
    except PermissionError:
        pass
    os.close(fd)
    return found

for name in sorted(os.listdir(sys.argv[1])):
    if name.endswith(".npy"):
        assert pieces(f"{sys.argv[1]}/{name}") == pieces(f"{sys.argv[2]}/{name}"), name
PY
equal "descriptors of files" "$(find "/proc/$PID/fd" -lname '*memfd*' | wc -l)" 0
stop

# With a cache for five tensors, they are evicted and made again. The files of evicted ones are
# unmapped.
rm "$T"/jobs.d/*
job a tensor.crop=40 job.order=sequential
job b tensor.crop=40 job.order=sequential view.io=direct
config joaderfs.cache=$((5 * 40 * 40 * 3)) joaderfs.state="$T/state2"
start
for _ in 1 2 3; do
	equal "passed through" "$(passed read_epoch a)" 24
	diff -r "$(epoch a)" "$(epoch b)" || fail "it differs"
done
settled counter open_files 0
equal "mapped and not in the cache" "$(mapped_files)" "$(counter cache_tensors)"
nothing_held
