#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl restore: a job goes back to a copy of jobs/JOB/state. Positions read since are unread
# again, with the same samples; the rest of the epoch has the remaining samples.
. "$(dirname "$0")/lib.sh"
dataset 4 15
for name in a other; do
	job $name tensor.crop=32 job.epochs=6 job.keep_epochs=3
done
job m view.layout=mirror
config joaderfs.seed=0
start
state() { cat "$M/jobs/$1/state"; }
read_some() { # JOB EPOCH FIRST LAST
	local position
	for position in $(seq "$3" "$4"); do
		cat "$(epoch "$1" "$2")/$(printf %08d "$position").ppm" >/dev/null
	done
}
sums() { (cd "$(epoch "$1" "$2")" && md5sum -- *.ppm); }
says() { # TEXT COMMAND...
	local text=$1 found
	shift
	! found=$(ctl "$@" 2>&1) || fail "$*: is not refused: $found"
	[[ $found == *"$text"* ]] || fail "$*: '$text' is not in '$found'"
}
consumed() { # the kernel releases files a moment after close
	local _
	for _ in $(seq 50); do
		[[ $(status_of "$1" consumed) != "$2" ]] || return 0
		sleep 0.1
	done
	equal "consumed of $1" "$(status_of "$1" consumed)" "$2"
}

# The states of a job that has not begun, and of a job in the middle of an epoch.
state a >"$T/none"
read_some a 0000 0 24
read_some other 0000 0 9
consumed a 25
state a >"$T/middle"
(($(stat -c %s "$T/middle") <= 4096)) || fail "more than 4 KB"
equal "what was read" "$(grep ^read "$T/middle")" "read 0-24"
read_epoch a
read_epoch a 0001
sums a 0000 >"$T/0"
sums a 0001 >"$T/1"
order a >"$T/order"

ctl restore a "$T/middle" | tee "$T/out"
equal "its answer" "$(cat "$T/out")" "restored a: epoch 0, 25 of 60 read"
equal "epoch" "$(status_of a "epoch ")" 0
consumed a 25
order a | cmp - "$T/order"
names "$M/jobs/a" | grep -q epoch-0001 || fail "the next epoch is not there"
! names "$M/jobs/a" | grep -q epoch-0002 || fail "an epoch after the next is there"
read_some a 0000 25 59
consumed a 60
sums a 0000 | cmp - "$T/0"
# The next epoch begins again, and its positions have the same samples.
read_some a 0001 0 9
equal "epoch" "$(status_of a "epoch ")" 1
consumed a 10
state a >"$T/second"
read_epoch a 0001
sums a 0001 | cmp - "$T/1"
once a 60 0001

# A second restore is followed by a kill; a third one goes back to the begin.
ctl restore a - <"$T/second" >/dev/null
# The engine has not noticed yet that its supervisor was killed: the next daemon waits until the
# engine has ended.
before=$(pgrep -P "$PID")
kill -STOP "$before"
kill -KILL "$PID"
wait "$PID" || true
unmount "$M"
(
	sleep 0.5
	kill -CONT "$before"
) &
start
equal "epoch" "$(status_of a "epoch ")" 1
consumed a 10
read_epoch a 0001
sums a 0001 | cmp - "$T/1"
ctl restore --at 0:30 a "$T/second" >/dev/null
consumed a 30
equal "what was read" "$(grep ^read "$M/jobs/a/state")" "read 0-29"
ctl restore a "$T/none" >/dev/null
consumed a 0
stop
start
consumed a 0
sums a 0000 | cmp - "$T/0"
read_some a 0001 0 0
ctl restore --at 1:0 a "$T/middle" >/dev/null
equal "epoch" "$(status_of a "epoch ")" 1

# A file that was open does not count as read afterwards. A reader that waits gets its sample in
# the end.
exec 5<"$(epoch a 0001)/00000007.ppm"
cat <&5 >/dev/null
ctl restore --at 1:0 a "$T/middle" >/dev/null
exec 5<&-
read_some a 0001 3 3
consumed a 1

# These are refused, and change nothing.
echo "joaderfs checkpoint 1" >"$T/torn"
says "line 2: found \"\", allowed: job NAME" restore a "$T/torn"
says "allowed: joaderfs checkpoint 1" restore a "$T/jobs.d/a.ini"
says "another journal" restore other "$T/middle"
says "layout = mirror has no order" restore m "$T/middle"
says "allowed: EPOCH:POSITION" restore --at 3 a "$T/middle"
says "allowed: up to 0" restore --at 3:4 a "$T/middle"
says "allowed: up to 60" restore --at 0:61 a "$T/middle"
says "no job b" restore b "$T/middle"
sed 's/^samples 60/samples 59/' "$T/middle" >"$T/fewer"
says "to other samples" restore a "$T/fewer"
equal "epoch" "$(status_of a "epoch ")" 1
consumed a 1
state a >"$T/late"
for number in 0001 0002 0003 0004; do read_epoch a $number; done
says "no longer kept, allowed: later epochs (keep_epochs = 3)" restore --at 0:0 a "$T/middle"
equal "epoch" "$(status_of a "epoch ")" 4
sums a 0004 >"$T/4"
ctl restore --at 4:7 a "$M/jobs/a/state" >/dev/null
read_epoch a 0004
sums a 0004 | cmp - "$T/4"
read_epoch a 0005
read_epoch other
once other 60
nothing_held
stop
