#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = tar: a damaged image is a member of zeros, which no reader takes for an image, and the
# rest of the shard is read as usual (format = raw: the read of the member fails, and later reads go
# on). A reader that is killed while it waits ends at once, and so does the daemon after it.
. "$(dirname "$0")/lib.sh"
dataset 3 8
truncate -s 900 "$D/class0/0002.jpg"
: >"$D/class2/0004.jpg"
mkdir "$T/slow"
size=(tensor.resize=48 tensor.crop=40)
job a "${size[@]}" "job.where=label != 1" view.layout=tar
job raw "${size[@]}" "job.where=label != 1" tensor.format=raw view.layout=tar
job slow "${size[@]}" "job.where=label = 1" view.layout=tar
start

tar -xf "$(epoch a)/shard-000000.tar" -C "$T" --one-top-level=a
once a 16
zeros=0
for file in "$T"/a/*.ppm; do
	"$PYTHON" -c 'import sys; from PIL import Image; Image.open(sys.argv[1]).load()' "$file" \
		2>"$T/message" && continue
	grep -q UnidentifiedImageError "$T/message" || fail "$(cat "$T/message")"
	[[ -z $(tr -d '\0' <"$file") ]] || fail "$file is damaged, and not zeros"
	zeros=$((zeros + 1))
done
equal "members that are zeros" $zeros 2
equal "errors" "$(status_of a errors)" 2
for path in class0/0002.jpg class2/0004.jpg; do
	grep -q "$path" "$LOG" || fail "the log does not name $path"
done
equal "members that the log names" "$(grep -c 'job a: .*no readable sample' "$LOG")" 2

"$PYTHON" - "$(epoch raw)/shard-000000.tar" <<'PYTHON'
import errno, os, sys
fd, stride, failed = os.open(sys.argv[1], os.O_RDONLY), 1024 + 512 + 5120, []
for record in range(16):
    try:
        assert len(os.pread(fd, stride, record * stride)) in (stride, 1536), record
        assert len(os.pread(fd, 4800, record * stride + 1536)) == 4800, record
    except OSError as error:
        assert error.errno == errno.EIO, error
        failed.append(record)
assert len(failed) == 2, failed
PYTHON
once raw 16

# A reader is killed while an image is being read.
stop
start --fault "load.read:NONE:after=2:until=$T/go"
cat "$(epoch slow)/shard-000000.tar" >"$T/slow/first" &
reader=$!
# The reader's request waits in the daemon, and is not still on its way.
while [[ $(status_of slow waiting) == 0.000 ]]; do
	sleep 0.05
done
kill -KILL $reader
wait $reader || true
(($(counter interrupts) > 0)) || fail "no read was interrupted"
touch "$T/go"
cat "$(epoch slow)/shard-000000.tar" >"$T/slow/second"
equal "members" "$(tar -tf "$T/slow/second" | wc -l)" 16
once slow 8
nothing_held
