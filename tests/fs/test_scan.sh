#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A mount that may be scanned: of a job with many epochs only the next one, and those that have
# begun and whose orders are kept, are listed. A scan of the mount ends soon, and fills no disk. Each
# epoch has every sample, in another order, and does not begin before half of the previous one is read.
. "$(dirname "$0")/lib.sh"
dataset 3 8
for name in a b c d; do
	job $name tensor.crop=32 job.epochs=100 job.keep_epochs=2
done
job mirror tensor.crop=32 job.epochs=100 view.layout=mirror
start

# epochs JOB: prints the listed directories and orders
epochs() {
	names "$M/jobs/$1" | grep ^epoch | xargs
}
# found JOB: prints the numbers of the later epochs that are found by their names
found() {
	local i
	for i in $(seq -f %04g 2 12); do
		[[ ! -e $(epoch "$1" "$i") ]] || printf '%s ' "$i"
	done
}
links() {
	stat -c %h "$M/jobs/$1"
}

# A job of 24 samples has 48 files in a directory.
in_all=$(find "$M" | wc -l)
((in_all < 800)) || fail "$in_all names of 5 jobs before the first epoch"
equal "epochs of a new job" "$(epochs a)" "epoch-0000"
equal "later epochs that are there" "$(found a)" ""
equal "links of its directory" "$(links a)" 4

cat "$(epoch a)/00000000.ppm" >/dev/null
equal "in the first epoch" "$(epochs a)" "epoch-0000 epoch-0000.order epoch-0001"
equal "links in the first epoch" "$(links a)" 5
for later in 0001 0099; do
	cat "$(epoch a $later)/00000000.ppm" 2>/dev/null && fail "epoch $later was opened"
	equal "bindings after a look at epoch $later" "$(order a | wc -l)" 1
done
for i in 0000 0001 0002 0003; do read_epoch a $i; done
for i in 0001 0002 0003; do once a 24 $i; done
[[ $(order a 0002 | cut -f2) != "$(order a 0003 | cut -f2)" ]] || fail "two epochs in one order"
[[ $(order a 0003 | cut -f2) != "$(seq 0 23)" ]] || fail "not shuffled"
nothing_held
equal "after four epochs" "$(epochs a)" \
	"epoch-0001 epoch-0001.order epoch-0002 epoch-0002.order epoch-0003 epoch-0003.order epoch-0004"
equal "later epochs that are there" "$(found a)" "0002 0003 0004 "
equal "links after four epochs" "$(links a)" 7
[[ -e $(epoch mirror 0012)/class0 ]] || fail "mirror has no epoch 12"

in_all=$(find "$M" | wc -l)
((in_all < 1000)) || fail "$in_all names of 5 jobs in all"
timeout 20 du -a "$M" >/dev/null || fail "du ended with $?"

# The file system has no size and no files, as /proc, so alarms about full disks ignore it.
equal "blocks, free, available, files, free files" "$(stat -f -c '%b %f %a %c %d' "$M")" "0 0 0 0 0"
equal "used" "$(df -P "$M" | awk 'END {print $5}')" "-"
