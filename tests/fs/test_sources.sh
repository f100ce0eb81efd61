#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The same images in a directory, in tar shards, in a zip and in an LMDB file give the same
# files under the same names, the same labels and the same orders.
. "$(dirname "$0")/lib.sh"
. "$FS/sources.sh"
dataset 3 8
mkdir "$D/class1/more"
mv "$D/class1/0003.jpg" "$D/class1/more/"
for kind in tar cls json names zip; do
	"$ROOT/tools/demo-source" $kind "$D" "$T/$kind"
done
mv "$T/zip" "$T/images.zip"
kinds="directory pattern tar zip"
if "$PYTHON" -c 'import lmdb' 2>/dev/null; then
	"$ROOT/tools/demo-source" lmdb "$D" "$T/images.lmdb"
	"$ROOT/tools/demo-source" csv "$D" "$T/csv"
	mkdir "$T/one"
	mv "$T/csv" "$T/one/csv"
	kinds+=" lmdb"
else
	echo "no lmdb for $PYTHON: left out"
fi
sources_jobs

path_of() {
	case $1 in
	directory) echo "$D" ;;
	pattern) echo "$T/tar/shards-{000000..000002}.tar" ;;
	zip | lmdb) echo "$T/images.$1" ;;
	csv) echo "$T/one/csv/data.lmdb" ;;
	*) echo "$T/$1" ;;
	esac
}

for kind in $kinds; do
	mount_source "$kind"
	copy "$kind"
	once a 24
	grep -qF "source $(path_of "$kind")" "$M/datasets/images/info"
	ctl datasets images | grep -qx "samples 24"
	nothing_held
	stop
	! grep -q 'warning:' "$LOG" || fail "warnings: $(cat "$LOG")"
	[[ $kind == directory ]] || diff -r "$T/out-directory" "$T/out-$kind"
done
diff -r "$D" "$T/out-tar/files"

# Labels beside the images: numbers, numbers in a field of JSON, and names.
labels() {
	local file
	for file in "$(epoch a)"/*.cls; do cat "$file" && echo; done
}
labelled="cls json names"
[[ $kinds != *lmdb ]] || labelled+=" csv"
for kind in $labelled; do
	key=images.label=auto
	[[ $kind != json ]] || key=images.label=json:meta.label
	[[ $kind != csv ]] || key=images.label=csv:label
	mount_source "$kind" "$key"
	read_epoch a
	paste <(order a | cut -f3) <(labels | sed /^$/d) | awk '$1 != $2' >"$T/wrong"
	[[ ! -s $T/wrong ]] || fail "$kind: labels of order and files: $(cat "$T/wrong")"
	equal "$kind: samples of each label" "$(order a | cut -f3 | sort | uniq -c | xargs)" "8 0 8 1 8 2"
	names=$(xargs <"$M/jobs/a/classes.txt")
	case $kind in
	names | csv) equal "$kind: classes" "$names" "class0 class1 class2" ;;
	*) equal "$kind: classes" "$names" "0 1 2" ;;
	esac
	# The label of each file means its class.
	while IFS=$'\t' read -r _ _ label _ path; do
		[[ ${path##*/} == class"$label"-* ]] || fail "$kind: $path has the label $label"
	done < <(order a)
	stop
done
