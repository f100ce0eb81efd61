#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Images that two datasets have in common are decoded once for jobs with equal tensors: hard links,
# symbolic links, and with same_images = content also copies. Each dataset has its own labels, and a
# file that replaces another is a new image.
. "$(dirname "$0")/lib.sh"
dataset 3 8
B=$T/both C=$T/copies
# Makes a dataset of 12 hard links and 6 symbolic links to images of $D, and of 4 images of its own.
mkdir -p "$B/class0/deep" "$B/other" "$B/own"
for i in 0 1 2 3 4 5; do
	ln "$D/class1/000$i.jpg" "$B/class0/deep/x$i.jpg"
	ln "$D/class0/000$i.jpg" "$B/other/y$i.jpg"
	ln -s "$D/class2/000$i.jpg" "$B/other/z$i.jpg"
done
"$PYTHON" "$FS/make_dataset.py" "$T/more" 1 5 80x60
cp "$T"/more/class0/000[0-3].jpg "$B/own"
cp -a "$D" "$C"
# A file with the size and time of a hard link replaces the link, but is another image.
"$PYTHON" - "$T/more/class0/0004.jpg" "$B/other/y5.jpg" <<'END'
import os, sys
image, link = sys.argv[1:]
data, old = open(image, "rb").read(), os.stat(link)
assert len(data) < old.st_size
os.unlink(link)
with open(link, "wb") as file:  # what follows the end of a JPEG is not looked at
    file.write(data + bytes(old.st_size - len(data)))
os.utime(link, ns=(old.st_atime_ns, old.st_mtime_ns))
new = os.stat(link)
assert (new.st_size, new.st_mtime_ns) == (old.st_size, old.st_mtime_ns) and new.st_ino != old.st_ino
END

# datasets [LINE]: writes the ini; LINE is added to each dataset
datasets() {
	config
	printf '%s\n[dataset both]\npath = %s\nsymlinks = follow\n%s\n[dataset copies]\npath = %s\n%s\n' \
		"${1-}" "$B" "${1-}" "$C" "${1-}" >>"$T/joaderfs.ini"
}
# decodes EXPECTED COMMAND...: checks the number of decodes by the command, and that it leaves no
# pin
decodes() {
	local before expected=$1
	before=$(counter decodes)
	shift
	"$@"
	equal "decodes of $*" $(($(counter decodes) - before)) "$expected"
	nothing_held
}
at_once() {
	local job pids=()
	for job; do
		read_epoch "$job" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

datasets
job a tensor.crop=32
job b tensor.crop=32 job.dataset=both
job c tensor.crop=32 job.dataset=copies
job a2 tensor.crop=24
job b2 tensor.crop=24 job.dataset=both
job a3 tensor.crop=20
job a4 tensor.crop=20 augment.hflip=0.5
job b3 tensor.crop=20 job.dataset=both tensor.format=npy
job s tensor.format=source
job t tensor.format=source job.dataset=both
start
decodes 24 read_epoch a
decodes 5 read_epoch b
equal "taken from the other dataset" "$(counter samples_same)" 17
# A copy of a file has the same bytes, but counts as another image.
decodes 24 read_epoch c
# A sample that is being decoded for one job is awaited by the other.
decodes 29 at_once a2 b2
decodes 29 at_once a3 a4 b3
decodes 29 at_once s t
once b 22
pixels "a 0 32" "a2 0 24" "a3 0 20" s
"$PYTHON" "$FS/pixels.py" "$M/jobs" "$B" "b 0 32" "b2 0 24" "b3 0 20" t
cut -f3,5 < <(order b) | sed -E 's/\/.*//' | sort -u >"$T/labels"
equal "labels of the second" "$(cat "$T/labels")" "$(printf '%s\t%s\n' 0 class0 1 other 2 own)"

# Copies are shared, also when the dataset for which they were prepared has no job any more.
stop
rm -r "$T/state"
datasets "same_images = content"
start
decodes 24 read_epoch c
decodes 0 read_epoch a
ctl rm c >/dev/null
decodes 5 read_epoch b
equal "taken from other datasets" "$(counter samples_same)" 41
decodes 29 at_once a2 b2
"$PYTHON" "$FS/pixels.py" "$M/jobs" "$B" "b 0 32" "b2 0 24"
