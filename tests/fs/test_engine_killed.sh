#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The engine is killed again and again, and readers of every layout notice nothing.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
CHAOS_SECONDS=${CHAOS_SECONDS:-20}
RANDOM=${CHAOS_SEED:-1}
[[ $EUID == 0 ]] || skip "a mount of a job needs root"
dataset 4 15
jobs_for_chaos

# disturbed SAMPLER SECONDS: kills the engine again and again while readers read
disturbed() {
	config joaderfs.cache=16K "joaderfs.sampler=$1" joaderfs.workers=2
	start
	mkdir -p "$T/container"
	ctl mount contained "$T/container"
	kill_until_done "$2" flat:flat classes:classes mapped:mapped batch:batch tar:tar \
		again:mirror current:current shards:shards "flat:contained:$T/container"
	umount "$T/container"
	nothing_held
	stop
	rm -rf "$T/state"
	mkdir "$T/state"
}
disturbed dsa $((CHAOS_SECONDS / 2))
disturbed exchange $((CHAOS_SECONDS / 2))
