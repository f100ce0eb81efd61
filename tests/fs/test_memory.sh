#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The daemon's memory is bounded. A sample that would exceed the bound answers EIO, with the sizes
# in the log; a job whose batches would is refused; large files of format = source wait for each
# other. An image that does not fit into the cache delays no job's look-ahead.
. "$(dirname "$0")/lib.sh"
alone
dataset 2 16
"$PYTHON" - "$D" <<'END'
import sys
from PIL import Image
top = sys.argv[1]
Image.effect_noise((3000, 2000), 90).convert("RGB").save(f"{top}/class0/0001.jpg")
import os
os.mkdir(f"{top}/class2")
Image.new("L", (1, 65500), 77).save(f"{top}/class2/narrow.jpg")
END
mkdir "$D/class3"
for i in 1 2 3 4 5 6; do truncate -s 100M "$D/class3/$i.pgm"; done
truncate -s 2G "$D/class3/7.pgm"
config joaderfs.cache=8M joaderfs.workers=2 joaderfs.seed=1 joaderfs.max_pixels=10000000
job ahead "job.where=label = 0" view.lookahead=16
job narrow job.order=sequential "job.where=label = 2 or label = 1" tensor.resize=16
job large job.order=sequential "job.where=label = 3" tensor.format=source
start

# --- look-ahead: one tensor of 18 MB does not fit into the cache, the other 15 do
head -c 1 "$(epoch ahead)/00000000.ppm" >/dev/null
for _ in $(seq 100); do
	(($(counter decodes) < 15)) || break
	sleep 0.1
done
equal "samples prepared ahead, beside one that does not fit" "$(counter decodes)" 15
read_epoch ahead
once ahead 16

# --- an image of 1x65500 becomes 16x1048000
failed=0
for file in "$(epoch narrow)"/*.ppm; do
	head -c 1 "$file" >/dev/null 2>"$T/message" && continue
	grep -q 'Input/output error' "$T/message" || fail "$(cat "$T/message")"
	failed=$((failed + 1))
done
equal "files that failed" $failed 1
grep -q 'narrow.jpg: 16768000 pixels, before or after resizing, are more than the limit of 10000000' \
	"$LOG" || fail "the log does not tell the size"
((10#$(stat -c %s "$(epoch narrow)/00000000.ppm") < 1000000)) ||
	fail "files are padded to the size of one that can't be read"

# --- six readers of 100 MB each: some wait until others have ended
readers=()
for i in 0 1 2 3 4 5; do
	{ sleep 1 && head -c 1 >/dev/null; } <"$(epoch large)/0000000$i.jpg" &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader" || fail "a large file can't be read"; done
! head -c 1 "$(epoch large)/00000006.jpg" 2>/dev/null || fail "2 GB were held"
grep -q '7.pgm: 2147483648 bytes when it is prepared are more than the limit of' "$LOG" ||
	fail "the log does not tell the size of the largest file"

# --- a batch
job_text batch tensor.crop=2000 view.layout=batch view.batch=64 >"$T/batch.ini"
! ctl add "$T/batch.ini" 2>"$T/message" || fail "a batch that is too large was accepted"
grep -qE '\[view\]:batch: found 64, but 40 samples of 12000000 bytes' "$T/message" ||
	fail "the message does not tell the sizes: $(cat "$T/message")"

# --- the limit
held=$(counter held_peak_bytes) limit=$(counter held_limit_bytes)
((held > 200000000 && held <= limit)) || fail "held $held bytes, the limit is $limit"
resident=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$PID/status")
echo "held at most $((held >> 20)) MiB of $((limit >> 20)), $((resident >> 10)) MiB resident"
((resident * 1024 <= limit)) || fail "$resident KiB resident, the limit is $limit bytes"
