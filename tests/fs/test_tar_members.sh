#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = tar: headers bind nothing; reading a sample binds and consumes its position only; a .json
# member equals that of layout flat; all formats are possible.
. "$(dirname "$0")/lib.sh"
dataset 3 8
size=(tensor.resize=48 tensor.crop=40)
job a "${size[@]}" view.layout=tar view.json=yes
job flat "${size[@]}" view.json=yes job.order=sequential
for format in ppm bmp png npy raw; do
	job $format "${size[@]}" tensor.format=$format view.layout=tar
done
job source tensor.format=source view.layout=tar
start
read_epoch flat
shard=$(epoch a)/shard-000000.tar

# part SKIP COUNT: prints a part of the shard, in blocks of 512 bytes
part() {
	dd if="$shard" bs=512 skip="$1" count="$2" status=none
}

part 0 1 >"$T/header"
equal "name in the first header" "$(tr '\0' '\n' <"$T/header" | head -1)" 00000000.cls
equal "bound by a header" "$(status_of a bound)" 0
label=$(part 1 1 | tr -d '\0')
equal "bound by a label" "$(order a | cut -f1,3)" "0	$label"
equal "consumed by a label" "$(status_of a consumed)" 0

"$PYTHON" - "$shard" "$M/jobs/a/status" <<'PYTHON'
import os, sys, time
def consumed():
    with open(sys.argv[2], encoding="ascii") as file:
        return dict(line.split(maxsplit=1) for line in file)["consumed"].strip()
fd = os.open(sys.argv[1], os.O_RDONLY)
start = 0
while (header := os.pread(fd, 512, start))[:12] != b"00000000.ppm":
    start += 512 + (int(header[124:135], 8) + 511) // 512 * 512
start += 512
assert os.pread(fd, 4000, start)[:2] == b"P6"
assert consumed() == "0", "consumed by a part of it"
os.pread(fd, 5000, start + 4000)
for _ in range(100): # the position is consumed after the answer
    if consumed() == "1":
        break
    time.sleep(0.05)
assert consumed() == "1", "not consumed by its last byte"
PYTHON

"$PYTHON" - "$shard" "$M/jobs" <<'PYTHON'
import json, os, sys, tarfile
shard, jobs = sys.argv[1:3]
with tarfile.open(shard) as tar:
    members = tar.getmembers()
    assert [m.name for m in members[:3]] == ["00000000.cls", "00000000.json", "00000000.ppm"]
    assert all(m.uid == 0 and m.mode == 0o444 and m.mtime == 315532800 for m in members)
    texts = [tar.extractfile(m).read() for m in members if m.name.endswith(".json")]
with open(os.path.join(jobs, "a/epoch-0000.order"), encoding="utf-8") as file:
    rows = {int(r.split("\t")[0]): r.rstrip("\n").split("\t") for r in file}
for position, text in enumerate(texts):
    with open(os.path.join(jobs, f"flat/epoch-0000/{int(rows[position][1]):08}.json"), "rb") as f:
        assert f.read() == text, position
    assert json.loads(text)["label"] == int(rows[position][2]), text
PYTHON

for format in ppm bmp png npy raw source; do
	tar -xf "$(epoch $format)/shard-000000.tar" -C "$T" --one-top-level=$format
	once $format 24
	order $format | sort -n >"$T/order"
	while IFS=$'\t' read -r position _ label _ path; do
		name=$T/$format/$(printf %08u "$position")
		equal "label of $path" "$(xargs <"$name.cls")" "$label"
		case $format in
		source) head -c "$(stat -c %s "$D/$path")" "$name.jpg" | cmp - "$D/$path" ;;
		npy) equal "size" "$(stat -c %s "$name.npy")" 4928 ;;
		raw) equal "size" "$(stat -c %s "$name.raw")" 4800 ;;
		*) file -b "$name.$format" | grep -qi "40" || fail "$(file "$name.$format")" ;;
		esac
	done <"$T/order"
done
nothing_held
