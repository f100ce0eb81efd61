# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# For tests of one dataset from several places, after lib.sh: `path_of KIND` says where.

# sources_jobs: those whose files are compared
sources_jobs() {
	job a tensor.crop=32
	job c tensor.crop=32 view.layout=classes
	job m tensor.crop=32 view.layout=mirror
	job s tensor.format=source view.layout=mirror
}

# mount_source KIND [images.key=value...]: a daemon that has seen nothing before
mount_source() {
	local kind=$1 real=$D
	shift
	D=$(path_of "$kind") config joaderfs.state="$T/state-$kind" "$@"
	D=$real
	start
}

# copy KIND: all that the jobs give
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
