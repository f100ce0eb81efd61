#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = classes: each class has as many files as samples, numbered from 0. In any order of
# reading each sample comes once, in its own class.
. "$(dirname "$0")/lib.sh"
dataset 4 5
rm "$D"/class1/000[0-2].jpg
job a tensor.crop=32 view.layout=classes job.epochs=2
job some tensor.crop=32 view.layout=classes "job.where=label <> 2 and path <> 'class0/0000.jpg'"
start

equal "files of a" "$(cd "$(epoch a)" && find . -type f | cut -d/ -f2 | uniq -c | xargs)" \
	"5 class0 2 class1 5 class2 5 class3"
equal "files of a class" "$(names "$(epoch a)/class1" | xargs)" "00000000.ppm 00000001.ppm"
equal "classes of some" "$(names "$(epoch some)" | xargs)" "class0 class1 class3"
equal "its files" "$(names "$(epoch some)/class0" | xargs)" \
	"00000000.ppm 00000001.ppm 00000002.ppm 00000003.ppm"
[[ ! -e $(epoch some)/class2 && ! -e $(epoch a)/class1/00000002.ppm && ! -e $(epoch a)/class4 ]] ||
	fail "more names than samples"
equal "links" "$(stat -c %h "$(epoch some)")" 5

for e in 0000 0001; do
	find "$(epoch a $e)" -type f | shuf --random-source="$T/joaderfs.ini" |
		while read -r file; do
			cat "$file" >/dev/null
			class=$(basename "$(dirname "$file")")
			equal "class of $file" "$(order a $e | tail -n 1 | cut -f5 | cut -d/ -f1)" "$class"
		done
	once a 17 $e
done
find "$(epoch some)" -type f -exec cat {} + >/dev/null
once some 11
nothing_held
