# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# Functions for tests that read one dataset from several places. Sourced after lib.sh. The test
# defines `path_of KIND`, which prints the place.

# sources_jobs: writes the inis of the jobs whose files are compared
sources_jobs() {
	job a tensor.crop=32
	job c tensor.crop=32 view.layout=classes
	job m tensor.crop=32 view.layout=mirror
	job s tensor.format=source view.layout=mirror
}

# mount_source KIND [images.key=value...]: starts a daemon with an empty state; the dataset is the
# place of KIND
mount_source() {
	local kind=$1 real=$D
	shift
	D=$(path_of "$kind") config joaderfs.state="$T/state-$kind" "$@"
	D=$real
	start
}

# copy KIND: copies all files of the jobs to $T/out-KIND
copy() {
	local out=$T/out-$1
	mkdir "$out"
	read_epoch a
	order a | cut -f1-3,5 >"$out/order"
	cp -r "$(epoch a)" "$out/flat"
	cp -r "$(epoch c)" "$out/classes"
	cp -r "$(epoch m)" "$out/mirror"
	cp -r "$(epoch s)" "$out/files"
	cp "$M/jobs/a/classes.txt" "$out"
	sed /^source/d "$M/datasets/images/info" >"$out/info"
}
