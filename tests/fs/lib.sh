# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# The functions that every test_*.sh uses. A test begins with
#
#     . "$(dirname "$0")/lib.sh"
#     dataset                 makes an ImageFolder in $D
#     job a tensor.crop=32    makes the ini of a job, with options as section.key=value
#     start                   starts the daemon, mounted on $M
#
# and then makes its checks. When it exits, also after a failure, the daemon is stopped, and all
# mounts and files are removed. Exit status: 0 passed, 77 skipped, anything else failed.
#
# $T temporary directory   $D dataset   $M mount point   $LOG messages of the daemon
# BUILD: directory of the built programs, build/release unless set

set -eEuo pipefail

# With PYTHONUNBUFFERED, Python writes a line and its end separately, so lines of two processes in
# one file would be mixed.
unset PYTHONUNBUFFERED

FS=$(cd "$(dirname "$0")" && pwd)
ROOT=$(cd "$FS/../.." && pwd)
BUILD=${BUILD:-build/release}
[[ $BUILD == /* ]] || BUILD=$ROOT/$BUILD
PROGRAM=$BUILD/joaderfs
PYTHON=/usr/bin/python3
T=$(mktemp -d "${TMPDIR:-/tmp}/joaderfs-test.XXXXXX")
D=$T/data M=$T/mnt LOG=$T/log
PID=
mkdir "$M" "$T/jobs.d" "$T/state"

fail() {
	echo "failed: $*" >&2
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# effort FEW MANY: prints how often to repeat a check with a random outcome: FEW times in make
# check, MANY times in make check-long (tests/unit/effort.h)
effort() {
	if [[ ${JOADERFS_LONG-} == 1 ]]; then echo "$2"; else echo "$1"; fi
}

# needs_torch: skips the test without torch; finds torch without loading it, which would take long
needs_torch() {
	"$PYTHON" - <<-'END' || skip "no torch and torchvision for $PYTHON on this system"
		import importlib.util, sys
		sys.exit(not all(map(importlib.util.find_spec, ("torch", "torchvision"))))
	END
}

# --- the end of a test -------------------------------------------------------------------

# mounted PATH: tells whether PATH is a mount point, also of another user, which root can't stat
mounted() {
	mountpoint -q "$1" || grep -qF -- " $1 fuse" /proc/self/mounts
}

unmount() {
	if mounted "$1" || [[ $(stat "$1" 2>&1) == *"not connected"* ]]; then
		umount -l "$1" 2>/dev/null || fusermount3 -u -z "$1" 2>/dev/null || true
	fi
}

# at_end: a test redefines it to end its own processes; its status is ignored
at_end() {
	:
}

finish() {
	local status=$? child ended=0 mount mounts
	trap - EXIT ERR
	at_end || true
	for child in $(jobs -p); do
		[[ $child == "$PID" ]] || kill -TERM "$child" 2>/dev/null || true
		kill -CONT "$child" 2>/dev/null || true # a process that a test has stopped
	done
	if [[ -n $PID ]]; then
		kill -TERM "$PID" 2>/dev/null || true
		for _ in $(seq 100); do
			kill -0 "$PID" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL "$PID" 2>/dev/null || true
		wait "$PID" || ended=$?
		if ((status == 0 && ended != 0)); then
			echo "passed, but then the daemon ended with $ended" >&2
			status=1
		fi
	fi
	unmount "$M"
	# The whole list is read first: bash seeks in a file that it reads by lines, and a mount that
	# has ended shifts the others.
	mapfile -t mounts </proc/self/mounts
	for mount in "${mounts[@]}"; do
		mount=${mount#* }
		mount=${mount%% *}
		[[ $mount != "$T"/* ]] || unmount "$mount"
	done
	# libfuse before 3.18 may miss a SIGTERM, so a file system of a test may live on.
	for _ in $(seq 100); do
		[[ -n $(jobs -pr) ]] || break
		sleep 0.1
	done
	for child in $(jobs -pr); do
		kill -KILL "$child" 2>/dev/null || true
	done
	wait
	if ((status == 0)) && grep -q 'runtime error:' "$LOG" 2>/dev/null; then
		echo "passed, but UBSan found something" >&2
		status=1
	fi
	if ((status != 0 && status != 77)) && [[ -s $LOG ]]; then
		echo "--- what the daemon printed:" >&2
		tail -n 40 "$LOG" >&2
	fi
	if mounted "$M"; then
		echo "still mounted: $M" >&2
		exit 1
	fi
	rm -rf "$T"
	exit "$status"
}
trap finish EXIT
trap 'echo "line $LINENO: $BASH_COMMAND" >&2' ERR
trap 'echo "SIGTERM in line $LINENO: $BASH_COMMAND" >&2; exit 143' TERM
trap 'exit 130' INT

# --- inis and datasets -----------------------------------------------------------------

# dataset [CLASSES [IMAGES_PER_CLASS [WIDTHxHEIGHT]]]
dataset() {
	"$PYTHON" "$FS/make_dataset.py" "$D" "${1:-3}" "${2:-8}" "${3:-96x72}"
}

# options SECTION [section.key=value...]: prints the options of SECTION as lines of an ini
options() {
	local section=$1 option
	shift
	for option; do
		[[ $option != "$section".* ]] || echo "${option#"$section".}"
	done
}

# job_text NAME [section.key=value...]: prints the ini of a job
job_text() {
	local name=$1
	shift
	printf '[job]\nname = %s\n' "$name"
	[[ "$*" == *job.dataset=* ]] || echo "dataset = images"
	[[ "$*" == *job.epochs=* ]] || echo "epochs = 1"
	options job "$@"
	echo "[tensor]"
	options tensor "$@"
	echo "[augment]"
	options augment "$@"
	echo "[view]"
	options view "$@"
}

job() {
	job_text "$@" >"$T/jobs.d/$1.ini"
}

# config [joaderfs.key=value...] [images.key=value...]: writes the daemon's ini
# shellcheck disable=SC2120 # often called without arguments, for the default ini
config() {
	{
		echo "[joaderfs]"
		[[ "$*" == *joaderfs.cache=* ]] || echo "cache = 64M"
		[[ "$*" == *joaderfs.seed=* ]] || echo "seed = 1"
		[[ "$*" == *joaderfs.state=* ]] || echo "state = $T/state"
		printf 'jobs = jobs.d\nsocket = %s/socket\n' "$T"
		options joaderfs "$@"
		printf '[dataset images]\npath = %s\n' "$D"
		options images "$@"
	} >"$T/joaderfs.ini"
}

# read_rest VIEW N: reads files 1 to N - 1 of the view in this process, so that readers are one script
read_rest() {
	local i
	for ((i = 1; i < $2; i++)); do
		exec 4<"$1/$(printf %08d "$i").ppm"
		exec 4<&-
	done
}

# --- the daemon ------------------------------------------------------------------------

# alone: lets start omit the supervisor, for tests that inspect the process or kill the whole daemon
alone() {
	ALONE=1
}

# start [ARGUMENT...]: starts the daemon with the ini of config, or with the default one
start() {
	# shellcheck disable=SC2119
	[[ -e $T/joaderfs.ini ]] || config
	# A shell without job control starts background processes with SIGINT and SIGQUIT
	# ignored.
	env --default-signal=INT,QUIT "$PROGRAM" ${ALONE:+--no-supervisor} \
		"$T/joaderfs.ini" "$M" -f "$@" >>"$LOG" 2>&1 &
	PID=$!
	while [[ ! -e $M/README ]]; do
		kill -0 "$PID" 2>/dev/null || fail "the daemon ended: $(cat "$LOG")"
		sleep 0.05
	done
}

# refused TEXT...: checks that the daemon does not start, prints each TEXT, and leaves no mount
refused() {
	local text status=0
	# shellcheck disable=SC2119
	[[ -e $T/joaderfs.ini ]] || config
	timeout 20 "$PROGRAM" "$T/joaderfs.ini" "$M" -f >"$LOG" 2>&1 || status=$?
	((status != 0 && status != 124)) || fail "it started, or ended with 0"
	((status < 128)) || fail "it ended by a signal: $status"
	! mounted "$M" || fail "it failed, and left a mount"
	for text; do
		grep -qF -- "$text" "$LOG" || fail "'$text' is not in its message: $(cat "$LOG")"
	done
}

stop() {
	local status=0
	kill -TERM "$PID"
	wait "$PID" || status=$?
	PID=
	((status == 0)) || fail "the daemon ended with $status"
	! mounted "$M" || fail "the daemon ended and left its mount"
}

ctl() {
	"$BUILD/joaderctl" --socket "$T/socket" "$@"
}

# --- files of the mount ----------------------------------------------------------------

counter() {
	sed -n "s/^$1 //p" "$M/stats" || echo "none, stats can't be read"
}

status_of() {
	sed -n "s/^$2 *//p" "$M/jobs/$1/status"
}

epoch() {
	echo "$M/jobs/$1/epoch-${2:-0000}"
}

order() {
	cat "$M/jobs/$1/epoch-${2:-0000}.order"
}

# logged PATTERN: waits some seconds for a line with PATTERN in the log, since scans go on after a start
logged() {
	local _
	for _ in $(seq 400); do
		! grep -q -- "$1" "$LOG" || return 0
		sleep 0.05
	done
	fail "not '$1' in the log: $(tail -n 20 "$LOG")"
}

# equal NAME FOUND EXPECTED: fails with the NAME unless both values are equal
equal() {
	[[ $2 == "$3" ]] || fail "$1: found '$2', expected '$3'"
}

# read_epoch JOB [EPOCH]: reads all files of the epoch in the order of their names
read_epoch() {
	local file
	for file in "$(epoch "$@")"/*; do
		cat "$file" >/dev/null || return 1
	done
}

# once JOB SAMPLES [EPOCH]: checks that all positions were bound, to different samples
once() {
	equal "positions of $1" "$(order "$1" "${3:-0000}" | cut -f1 | sort -n | uniq)" \
		"$(seq 0 $(($2 - 1)))"
	equal "different samples of $1" "$(order "$1" "${3:-0000}" | cut -f2 | sort -u | wc -l)" "$2"
}

# nothing_held: checks that no pin, need or open file is left after all epochs were read
nothing_held() {
	local _
	for _ in $(seq 50); do # the kernel releases files a moment after close
		[[ $(counter cache_pins) =~ ^[1-9] ]] || break
		sleep 0.1
	done
	equal "pins left" "$(counter cache_pins)" 0
	equal "need left" "$(counter cache_need)" 0
	equal "files left open" "$(counter open_files)" 0
}

# pixels "JOB [RESIZE [CROP]]"...: checks that each file of the jobs has the same pixels as PIL
pixels() {
	"$PYTHON" "$FS/pixels.py" "$M/jobs" "$D" "$@"
}

# refuses_with FUNCTION TEXT section.key=value... -- ARGUMENT...: checks that joaderctl refuses the
# job with TEXT. FUNCTION ARGUMENT... prints more sections of the job's ini.
refuses_with() {
	local print=$1 text=$2 keys=()
	shift 2
	while [[ $1 != -- ]]; do
		keys+=("$1")
		shift
	done
	{
		job_text refused "${keys[@]}"
		"$print" "${@:2}"
	} | ctl add - >"$T/answer" 2>&1 && fail "$text: it was added"
	grep -qF -- "$text" "$T/answer" || fail "'$text' is not in: $(cat "$T/answer")"
}

# names DIR: prints the sorted names of the files in DIR, which may be a link
names() {
	find "$1/" -mindepth 1 -maxdepth 1 -printf '%f\n' | LC_ALL=C sort
}
