#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# [tensor mask] with from: an image and its mask are one sample, in every layout that draws, with
# one crop and one flip. One decode prepares both, and jobs that draw alike share them.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
needs_torch
"$PYTHON" "$FS/masks.py" make "$D"
rm -r "$D/deep"
# Makes two masks smaller than their images, with the same form.
"$PYTHON" - "$D/masks" <<-'END'
	import sys
	from PIL import Image
	for name, divisor in (("004", 2), ("005", 3)):
	    with Image.open(f"{sys.argv[1]}/{name}.png") as mask:
	        mask.resize((mask.width // divisor, mask.height // divisor), 0).save(f"{sys.argv[1]}/{name}.png")
END

section() { # the lines of [tensor mask] beside from
	printf '[tensor mask]\nfrom = ../masks/{stem}.png\n'
	printf '%s\n' "$@"
}
pair() { # JOB KEY=VALUE... : a mask that keeps its indices
	job "$@"
	section "filter = nearest" "channels = keep" >>"$T/jobs.d/$1.ini"
}
draws=(augment.seed=5 augment.hflip=0.5)
pair plain tensor.resize=40
pair exact tensor.resize=40 view.size=exact
pair tar tensor.resize=40 view.layout=tar view.shard=3
pair same tensor.resize=40 job.epochs=2 augment.random_crop=30 "${draws[@]}"
pair resized tensor.resize=48 tensor.format=npy tensor.dtype=float32 tensor.axes=CHW \
	augment.random_resized_crop=24 augment.normalize="0.485 0.456 0.406 / 0.229 0.224 0.225" "${draws[@]}"
pair record tensor.resize=48 tensor.format=record augment.random_resized_crop=24 "${draws[@]}"
pair whole tensor.resize=40 tensor.format=record view.size=exact
pair batch tensor.resize=48 view.layout=batch view.batch=3 augment.random_crop=32 "${draws[@]}"
job gray tensor.resize=40 tensor.format=npy
section "filter = bicubic" "channels = gray" >>"$T/jobs.d/gray.ini"
start
check() {
	"$PYTHON" "$FS/pairs.py" "$M/jobs" "$D" \
		"plain flat resize=40" "exact flat resize=40" "tar tar resize=40" \
		"same flat epochs=2 resize=40 seed=5 random_crop=30 hflip=0.5" \
		"resized flat resize=48 seed=5 random_resized_crop=24 hflip=0.5 normalize=1 dtype=float32 axes=CHW" \
		"record record resize=48 seed=5 random_resized_crop=24 hflip=0.5" "whole record resize=40" \
		"batch batch resize=48 seed=5 random_crop=32 hflip=0.5" \
		"gray flat resize=40 mask=bicubic mode=L"
}
check
equal "files of a position" "$(cd "$(epoch plain)" && echo 00000003.*)" \
	"00000003.cls 00000003.mask.png 00000003.ppm"
equal "members" "$(tar tf "$(epoch tar)/shard-000002.tar" | xargs)" \
	"00000006.cls 00000006.ppm 00000006.mask.png 00000007.cls 00000007.ppm 00000007.mask.png"
# There are three preparations of eight pairs: resized to 40, resized to 48, and with another mask.
equal "decodes" "$(counter decodes)" 24
for file in "$(epoch plain)"/*.mask.png "$(epoch same)"/*.ppm; do
	equal "size of $file" "$(stat -c %s "$file")" "$(wc -c <"$file")"
done
nothing_held

# An open mask is read on after the engine has died.
mask=$(epoch plain)/00000003.mask.png
cp "$mask" "$T/mask.png"
exec 5<"$mask"
head -c 10 <&5 >/dev/null
kill_engine
cat <&5 | cmp - <(tail -c +11 "$T/mask.png")
exec 5<&-
check
PYTHONPATH=$ROOT/tools/python "$PYTHON" "$FS/pairs.py" module "$M/jobs" plain exact same resized record \
	whole batch gray tar

pair current tensor.resize=40 job.epochs=3
ctl add "$T/jobs.d/current.ini" >/dev/null
"$PYTHON" "$FS/pairs.py" current "$M/jobs/current"
nothing_held
equal "jobs of one preparation" "$(counter decodes)" 24

refuses() { refuses_with section "$@"; } # TEXT KEY=VALUE... -- LINE... of the section
refuses "only with layout = flat, tar or batch" view.layout=classes -- "channels = keep"
refuses "[tensor mask]:resize: found \"resize\", allowed: only in [tensor], since both files" -- "resize = 9"
refuses "not with format = record or layout = batch" tensor.format=record -- "format = png"
refuses "only one [tensor NAME] with from" -- "[tensor b]" "from = {stem}.png"
refuses "is indices of a palette" tensor.resize=40 -- "channels = keep"
refuses "not with labels = columns" view.layout=batch "view.labels=columns: label" -- "channels = keep"
refuses "not with prepare or format = source" tensor.format=source -- "channels = keep"
refuses "[tensor]:from: found \"from\", allowed: only in [tensor NAME]" tensor.from=x -- "channels = keep"
{
	job_text refused
	printf '[tensor mask]\nfrom = ../mask/{stem}.png\n'
} | ctl add - >"$T/answer" 2>&1 && fail "there is no mask, and it was added"
grep -qF '[tensor mask]:from: found "../mask/{stem}.png", and 16 of 16 samples can'"'"'t be prepared, as images/000.jpg: its file mask/000.png is no image of the dataset; allowed: the path from a sample'"'"'s first file' \
	"$T/answer" || fail "$(cat "$T/answer")"
stop

# A mask that is missing, damaged, or of another size loses the sample of its image, and no other
# sample.
rm -r "$T"/jobs.d/*.ini "$D/masks/001.png" "$T"/state/*
"$PYTHON" - "$D/masks" <<-'END'
	import sys
	from PIL import Image
	with Image.open(f"{sys.argv[1]}/002.png") as mask:
	    mask.resize((60, 9)).save(f"{sys.argv[1]}/002.png")
	with open(f"{sys.argv[1]}/003.png", "r+b") as file:
	    file.seek(60)
	    file.write(b"damaged, and long enough")
END
pair flat tensor.resize=40
pair tar tensor.resize=40 view.layout=tar view.shard=8
start
grep -qF "and 2 of 8 samples can't be prepared, as images/001.jpg: its file masks/001.png is no image of the dataset; their files answer EIO" "$LOG" ||
	fail "the start does not warn"
bad=0
for file in "$(epoch flat)"/*.ppm "$(epoch flat)"/*.mask.png; do
	cat "$file" >/dev/null 2>&1 || bad=$((bad + 1))
done
equal "files that answer EIO" "$bad" 6
grep -qF "002.jpg: is " "$LOG" || fail "002 is not named: $(cat "$LOG")"
grep -qF "but its file masks/002.png is 60x9; allowed: the same shape" "$LOG"
grep -qF "003.jpg: its file masks/003.png:" "$LOG"
"$PYTHON" - "$(epoch tar)" <<-'END'
	import io, sys, tarfile
	from PIL import Image
	good = 0
	with tarfile.open(f"{sys.argv[1]}/shard-000000.tar") as tar:
	    members = {member.name: tar.extractfile(member).read() for member in tar}
	assert len(members) == 24, sorted(members)
	for name, content in members.items():
	    if name.endswith((".ppm", ".png")):
	        try:
	            Image.open(io.BytesIO(content)).load()
	            good += 1
	        except OSError:
	            assert not any(content), name
	assert good == 10, good
END
nothing_held
stop
