#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A state directory of another version is refused and left unchanged; the message says what to do.
. "$(dirname "$0")/lib.sh"
dataset 2 4
job a tensor.crop=32
S=$T/state

# all: prints checksum, time and name of each file except the lock
all() { (cd "$S" && find . ! -name lock -type f -exec md5sum {} + -printf '%T@ %p\n' | sort); }
# refused_as_it_is TEXT...: checks that the daemon does not start, and changes no file
refused_as_it_is() {
	touch "$S/lock"
	all >"$T/before"
	refused "$@" "no file was changed" "please set another state ="
	all | diff "$T/before" -
}

start
equal "version of a new directory" "$(cat "$S/version")" "joaderfs state 2"
stop
start
stop

# The state of the previous version: its catalogue is updated, and older daemons refuse it from now
# on.
"$PYTHON" "$FS/catalogue.py" rows "$S/datasets/images.sqlite" >"$T/rows"
"$PYTHON" "$FS/catalogue.py" older "$S/datasets/images.sqlite" 4
echo "joaderfs state 1" >"$S/version"
start
grep -q "$S/version: this version takes over the state of an older joaderfs" "$LOG"
stop
equal "version of an older one" "$(cat "$S/version")" "joaderfs state 2"
"$PYTHON" "$FS/catalogue.py" rows "$S/datasets/images.sqlite" | diff "$T/rows" -

echo "joaderfs state 3" >"$S/version"
refused_as_it_is "$S/version: found \"joaderfs state 3\", allowed: \"joaderfs state 2\""
printf 'joaderfs state 2' >"$S/version"
refused_as_it_is "$S/version: found \"joaderfs state 2\", allowed"
printf '\033[31m\nsecond' >"$S/version"
refused_as_it_is "$S/version: found \"\\x1b[31m\", allowed"
: >"$S/version"
refused_as_it_is "$S/version: found \"\", allowed"
head -c 100000 /dev/urandom >"$S/version"
refused_as_it_is "$S/version: found"

# A state from the time before versions.
rm -r "$S"
mkdir -p "$S/jobs/a"
echo "id 1" >"$S/jobs/a/state"
refused_as_it_is "$S/jobs: found a/state, of an older joaderfs"
rm "$S/jobs/a/state"
head -c 32 /dev/zero >"$S/jobs/a/epoch-0000.ids"
refused_as_it_is "$S/jobs: found a/epoch-0000.ids, of an older joaderfs"

# None of these files belongs to a version.
rm -r "$S/jobs/a"
mkdir -p "$S/jobs/empty" "$S/datasets"
echo "a message" >"$S/joaderfs.log"
start
stop
equal "version of one with a log" "$(cat "$S/version")" "joaderfs state 2"
rm -r "$S/version" "$S/jobs"
[[ -e $S/datasets/images.sqlite ]] || fail "no catalogue is left to try with"
start
stop
equal "version of one with catalogues" "$(cat "$S/version")" "joaderfs state 2"
