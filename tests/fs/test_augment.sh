#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Augmented files equal torchvision's results to the bit, whenever they are read. Jobs with
# different augmentation share the decoded samples.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 3 10 96x72
imagenet="normalize=0.485 0.456 0.406 / 0.229 0.224 0.225"
common=(job.epochs=2 tensor.resize=48 augment.seed=5)

job flip "${common[@]}" augment.hflip=0.5
job crop "${common[@]}" augment.random_crop=32 augment.hflip=0.5 tensor.format=png
job resized "${common[@]}" augment.random_resized_crop=40 augment.hflip=0.5 \
	tensor.format=bmp
job cubic "${common[@]}" tensor.filter=bicubic augment.random_resized_crop=40
job near "${common[@]}" tensor.filter=nearest augment.random_resized_crop=20
job gray "${common[@]}" tensor.channels=gray augment.random_resized_crop=40 \
	augment.hflip=0.5
job gray32 "${common[@]}" tensor.channels=gray augment.random_crop=33 augment.hflip=0.5 \
	tensor.format=npy tensor.dtype=float32 tensor.axes=CHW "augment.normalize=0.485 / 0.229"
job float32 "${common[@]}" augment.random_resized_crop=40 tensor.format=npy \
	tensor.dtype=float32 tensor.axes=CHW "augment.$imagenet" augment.hflip=0.5
job float16 "${common[@]}" augment.random_crop=33 tensor.format=npy tensor.dtype=float16 \
	"augment.$imagenet" augment.hflip=1
job plain32 "${common[@]}" tensor.format=npy tensor.dtype=float32
job chw "${common[@]}" tensor.format=npy tensor.axes=CHW augment.hflip=0.5
job named job.epochs=1 tensor.resize=48 augment.random_crop=32
job named2 job.epochs=1 tensor.resize=48 augment.random_crop=32
start

augmented() {
	"$PYTHON" "$FS/augmented.py" "$M/jobs" "$D" "${@/%/ epochs=2 resize=48 seed=5}"
}

check() {
	augmented "flip hflip=0.5" "crop random_crop=32 hflip=0.5" \
		"resized random_resized_crop=40 hflip=0.5" \
		"cubic filter=bicubic random_resized_crop=40" \
		"gray mode=L random_resized_crop=40 hflip=0.5" \
		"gray32 mode=L random_crop=33 hflip=0.5 dtype=float32 axes=CHW normalize=1" \
		"near filter=nearest random_resized_crop=20" \
		"float32 random_resized_crop=40 dtype=float32 axes=CHW normalize=1 hflip=0.5" \
		"float16 random_crop=33 dtype=float16 normalize=1 hflip=1" \
		"plain32 dtype=float32" "chw axes=CHW hflip=0.5"
}

sums() {
	(cd "$M/jobs" && find . -path '*/epoch-0000/*' -type f -exec sha256sum {} + | sort -k 2)
}

check
if augmented "crop random_crop=32 hflip=0.6" >/dev/null; then
	fail "another probability is not noticed"
fi
equal "decodes of 30 images for 11 jobs, of 4 kinds" "$(counter decodes)" 120
size=$(stat -c %s "$(epoch float32)/00000000.npy")
equal "size of a float32 file" "$size" $((128 + 40 * 40 * 3 * 4))

before=$(sums)
equal "files read again that differ" "$(sums | diff - <(echo "$before"))" ""
! cmp -s "$(epoch named)/00000000.ppm" "$(epoch named2)/00000000.ppm" ||
	fail "jobs of other names have the same crops"
stop
start
equal "files that differ after a restart" "$(sums | diff - <(echo "$before"))" ""
check
