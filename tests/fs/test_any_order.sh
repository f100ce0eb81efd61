#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Opens positions in any order: the last one first, a whole epoch at random, and by two readers at
# the same moment. Each sample comes once, with its own pixels and label, also with a cache that
# holds hardly anything.
. "$(dirname "$0")/lib.sh"
dataset 4 25
for sampler in dsa exchange; do
	for layout in flat classes; do
		job $layout-back-$sampler tensor.crop=32 view.layout=$layout
		job $layout-random-$sampler tensor.crop=32 view.layout=$layout
		job $layout-pairs-$sampler tensor.crop=32 view.layout=$layout view.lookahead=4
	done
done

# files JOB: prints the files of an epoch, labels after their images
files() {
	find "$(epoch "$1")" -name '*.ppm' | sort
}

# label FILE: sets $label to the label of the sample, from its .cls or its directory
label() {
	if [[ $1 == */class*/* ]]; then
		label=${1##*/class}
		label=${label%%/*}
	else
		read -r label <"${1%.ppm}.cls"
	fi
}

read_files() {
	local file sum label
	while read -r file; do
		sum=$(md5sum "$file")
		label "$file"
		echo "${sum%% *} $label"
	done
}

for sampler in dsa exchange; do
	config joaderfs.sampler=$sampler joaderfs.cache=65536
	start
	for layout in flat classes; do
		files $layout-back-$sampler | tac | read_files | sort >"$T/back"
		files $layout-random-$sampler | shuf --random-source="$PROGRAM" | read_files | sort >"$T/random"
		job=$layout-pairs-$sampler
		files $job | shuf --random-source="$PROGRAM" >"$T/files"
		for reader in 1 2; do
			xargs md5sum <"$T/files" >"$T/sums$reader" &
			readers[reader]=$!
		done
		for reader in "${readers[@]}"; do wait "$reader"; done
		cmp "$T/sums1" "$T/sums2"
		for job in back random pairs; do once $layout-$job-$sampler 100; done
		equal "images of $layout" "$(cut -d' ' -f1 "$T/back" | uniq | wc -l)" 100
		cmp "$T/back" "$T/random"
		equal "images of pairs" "$(cut -d' ' -f1 "$T/sums1" | sort)" "$(cut -d' ' -f1 "$T/back")"
	done
	nothing_held
	stop
	rm -r "$T/state" "$T/joaderfs.ini"
	mkdir "$T/state"
done
