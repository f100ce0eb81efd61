#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl run: a job exists as long as a command runs. The command gets the path and the signals,
# and its exit status is returned. A second run of the same ini gets another job name.
. "$(dirname "$0")/lib.sh"
dataset 3 8
start

ini=$T/net.ini
job_text net tensor.crop=32 >"$ini"

status_is() { # STATUS ARGUMENT...
	local expected=$1 status=0
	shift
	ctl run "$@" >"$T/out" 2>"$T/err" || status=$?
	equal "status of run $*" "$status" "$expected"
}
jobs_are() {
	equal "jobs" "$(names "$M/jobs" | xargs)" "$*"
}
appears() { # FILE
	for ((i = 0; i < 400; i++)); do
		[[ ! -e $1 ]] || return 0
		sleep 0.05
	done
	fail "$1 did not appear: $(cat "$T/err")"
}

# --- the command reads the job, and its status is returned ---
# shellcheck disable=SC2016
status_is 0 "$ini" -- sh -c 'ls "$1" | grep -c ppm; cat "$1"/*.ppm | wc -c; echo "$JOADERFS_JOB"' - {}
equal "what it printed" "$(xargs <"$T/out")" "24 $((24 * (13 + 32 * 32 * 3))) net"
status_is 0 "$ini" -- echo --data={} {}/x '{'
equal "braces" "$(cat "$T/out")" "--data=$M/jobs/net/current $M/jobs/net/current/x {"
status_is 7 "$ini" -- sh -c 'exit 7'
status_is 137 "$ini" -- sh -c 'kill -KILL $$'
status_is 127 "$ini" -- "$T/nothing"
status_is 126 "$ini" -- "$T"
jobs_are

# --- settings, and a job that stays ---
status_is 0 --name other --set tensor.crop=16 --keep "$ini" -- true
jobs_are other
equal "crop" "$(grep ^crop "$M/jobs/other/job.ini")" "crop = 16x16"

# --- two at the same time, and signals ---
waits="trap 'echo term; exit 3' TERM; echo \$JOADERFS_JOB >$T/name.\$1; while :; do sleep 0.05; done"
"$BUILD/joaderctl" --socket "$T/socket" run "$ini" -- bash -c "$waits" - a >"$T/a" 2>"$T/err" &
first=$!
appears "$T/name.a"
"$BUILD/joaderctl" --socket "$T/socket" run "$ini" -- bash -c "$waits" - b >"$T/b" 2>"$T/err" &
second=$!
appears "$T/name.b"
equal "names" "$(cat "$T"/name.[ab] | xargs)" "net net-2"
jobs_are net net-2 other
kill -TERM "$first"
status=0
wait "$first" || status=$?
equal "after the signal" "$status $(cat "$T/a")" "3 term"
jobs_are net-2 other
kill -TERM "$second"
wait "$second" && fail "the second one ended with 0"
jobs_are other

# --- the socket is named by the daemon's ini ---
equal "jobs by --config" "$("$BUILD/joaderctl" --config "$T/joaderfs.ini" ls | awk 'NR > 1 { print $1 }')" other
! "$BUILD/joaderctl" --config "$ini" ls 2>"$T/err" || fail "a job's ini names no socket"
grep -qF 'this is the ini of a job' "$T/err" || fail "$(cat "$T/err")"

# --- the environment as launchers of ranks set it ---
# shellcheck disable=SC2016
{
	job_text 'vit-$SLURM_PROCID' 'job.training=run-${SLURM_JOB_ID} ; of $NOBODY' \
		'job.ranks=$SLURM_NTASKS' 'job.rank=$SLURM_PROCID' 'job.global_batch=4' \
		tensor.crop=32 'view.path=%name/$SLURM_PROCID'
} >"$T/rank.ini"
# shellcheck disable=SC2016
SLURM_PROCID=1 SLURM_NTASKS=2 SLURM_JOB_ID=77 status_is 0 "$T/rank.ini" -- \
	sh -c 'grep -E "^(name|training|ranks|rank|path) =" "$1/../job.ini"' - {}
# shellcheck disable=SC2016
equal "job of the environment" "$(cat "$T/out")" "$(printf '%s\n' 'name = vit-1' 'ranks = 2' \
	'rank = 1' 'training = run-77' 'path = vit-1/$SLURM_PROCID')"
# shellcheck disable=SC2016
RANK=1 status_is 0 "$ini" --set 'job.ranks=2' --set 'job.rank=$RANK' --name 'net-$RANK' -- \
	sh -c 'echo "$JOADERFS_JOB"; grep "^rank =" "$1/../job.ini"' - {}
equal "job of settings" "$(xargs <"$T/out")" "net-1 rank = 1"
SLURM_NTASKS=2 SLURM_JOB_ID=77 status_is 1 "$T/rank.ini" -- touch "$T/ran"
line=$(grep -n '^name' "$T/rank.ini" | cut -d: -f1)
grep -qF "rank.ini:$line:[job]:name: found \"\$SLURM_PROCID\", allowed: an environment variable that is set; SLURM_PROCID is not set here" "$T/err" ||
	fail "$(cat "$T/err")"
# shellcheck disable=SC2016
RANK='' status_is 1 "$ini" --set 'job.rank=$RANK' -- touch "$T/ran"
grep -qF 'RANK is empty here' "$T/err" || fail "$(cat "$T/err")"
jobs_are other

# --- mistakes ---
status_is 2 "$ini" true
grep -qF 'no -- before the command' "$T/err" || fail "$(cat "$T/err")"
status_is 2 "$ini" --
status_is 2 -- true
sed 's/32/-1/' "$ini" >"$T/bad.ini"
status_is 1 "$T/bad.ini" -- touch "$T/ran"
grep -qF '[tensor]:crop' "$T/err" || fail "$(cat "$T/err")"
[[ ! -e $T/ran ]] || fail "the command ran without a job"
jobs_are other
