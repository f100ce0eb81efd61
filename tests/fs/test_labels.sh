#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The .cls beside a sample is the index of its class in classes.txt, in either order of reading. A
# label file binds its position and consumes nothing. With labels = fixed it does not even bind, and
# the labels are the same in all epochs and after a restart.
. "$(dirname "$0")/lib.sh"
dataset 3 4
job a tensor.crop=32
job fixed tensor.crop=32 view.labels=fixed job.epochs=3
start

equal "classes" "$(xargs <"$M/jobs/a/classes.txt")" "class0 class1 class2"
equal "classes of the dataset" "$(xargs <"$M/datasets/images/classes.txt")" "class0 class1 class2"
cat "$(epoch a)"/*.cls >/dev/null
once a 12
equal "consumed by labels" "$(status_of a consumed)" 0
read_epoch a
equal "consumed" "$(status_of a consumed)" 12
while IFS=$'\t' read -r position _ label _ path; do
	equal "label of $path" "$(cat "$(epoch a)/$(printf %08d "$position").cls")" "$label"
	equal "class of $path" "class$label" "$(basename "$(dirname "$path")")"
done < <(order a)

labels() {
	cat "$(epoch fixed "$1")"/*.cls | xargs
}
first=$(labels 0000)
equal "bound by fixed labels" "$(status_of fixed bound)" 0
equal "fixed labels" "$(xargs -n 1 <<<"$first" | sort | uniq -c | xargs)" "4 0 4 1 4 2"
[[ $first != "$(xargs -n 1 <<<"$first" | sort | xargs)" ]] || fail "fixed labels are sorted"
for e in 0000 0001; do
	[[ $e == 0000 ]] || first_order=$(order fixed | sort -n | cut -f2)
	read_epoch fixed $e
	once fixed 12 $e
	equal "labels of epoch $e" "$(order fixed $e | sort -n | cut -f3 | xargs)" "$first"
done
[[ $(order fixed 0001 | sort -n | cut -f2) != "$first_order" ]] || fail "two epochs alike"
stop
sed -i 's/^seed.*/seed = 77/' "$T/joaderfs.ini"
start
equal "labels after a restart" "$(labels 0002)" "$first"
equal "labels of current" "$(cat "$M/jobs/fixed/current/"*.cls | xargs)" "$first"
