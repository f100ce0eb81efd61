#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# fio reads an image in pieces of odd sizes. It writes files whose blocks have checksums, and
# verifies them through the mount, in and out of order, under their names and as shuffled samples.
# It notices a wrong byte.
. "$(dirname "$0")/lib.sh"
command -v fio >/dev/null || skip "fio is not installed"

# verify DIRECTORY FILES OPTION...: lets fio write or check files with checksums
verify() {
	(cd "$1" && fio --name=verify --filename="$2" --size=300k --bs=4k --verify=crc32c --verify_state_save=0 \
		--output="$T/fio" "${@:3}") >>"$T/fio" 2>&1
}
dataset 1 2 640x480
for i in 0 1 2 3 4 5; do
	verify "$D/class0" "$i.bin" --rw=write --do_verify=0 || fail "$(cat "$T/fio")"
done
mkdir "$T/bad"
cp "$D/class0/3.bin" "$T/bad/3.bin"
printf x | dd of="$T/bad/3.bin" bs=1 seek=100000 conv=notrunc status=none
! verify "$T/bad" 3.bin --rw=read --readonly || fail "fio does not see a wrong byte"

config 'images.extensions=*'
source=(tensor.format=source view.extension=bin "job.where=path like '%.bin'")
job names "${source[@]}" view.layout=mirror
job order "${source[@]}"
job cached "${source[@]}" view.io=cached
job image "job.where=path like '%.jpg'"
start
for directory in "$(epoch names)" "$(epoch order)" "$(epoch cached)"; do
	for pattern in read randread; do
		for file in $(cd "$directory" && find . -name '*.bin' | sort); do
			verify "$directory" "$file" --rw=$pattern --readonly ||
				fail "$directory/$file: $(cat "$T/fio")"
		done
	done
done
once order 6
once cached 6

image=$(epoch image)/00000000.ppm
cp "$image" "$T/copy"
for pattern in read randread; do
	fio --name=$pattern --filename="$image" --readonly --rw=$pattern --bs=7001 --loops=3 \
		--numjobs=4 --group_reporting >"$T/fio" || fail "$(cat "$T/fio")"
	grep -q 'err= 0' "$T/fio" || fail "$(cat "$T/fio")"
done
cmp "$image" "$T/copy"
equal "positions bound" "$(order image | wc -l)" 1
