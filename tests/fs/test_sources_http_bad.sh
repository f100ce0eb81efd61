#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A web server that misbehaves: transient errors are tried again while the reader waits; for other
# errors the sample answers EIO, and the log tells the cause. Nothing else stops, even if the server
# is silent: other jobs read on, waiting jobs can be removed, and SIGTERM ends the daemon.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/web.sh"
dataset 2 20 160x120
cp -r "$D" "$T/web"
manifest >"$T/web/manifest.csv"
"$ROOT/tools/demo-source" tar "$D" "$T/web/tars"
: >"$T/modes"
"$PYTHON" "$FS/bad_server.py" "$T/web" "$T/modes" >"$T/port" &
SERVER=$!
for _ in $(seq 200); do
	[[ ! -s $T/port ]] || break
	sleep 0.05
done
answers "$(<"$T/port")"
WEB=http://127.0.0.1:$(<"$T/port")

config joaderfs.workers=2
cat >>"$T/joaderfs.ini" <<-END
	[dataset far]
	path = $WEB/manifest.csv
	timeout = 1s
	[dataset shards]
	path = $WEB/tars/shards-{000000..000002}.tar
	timeout = 1s
END
job near tensor.crop=32
job m job.dataset=far tensor.crop=32 view.layout=mirror
job s job.dataset=shards tensor.crop=32 view.layout=mirror
start

# --- one sample for each kind of fault
n=0
mode() { # FILE MODE [TIMES]: of the next sample, whose path goes into the file
	local path
	path=class0/$(printf %04d "$n").jpg
	n=$((n + 1))
	echo "$path ${*:2}" >>"$T/modes"
	echo "$path" >>"$1"
}
passes="500 busy cut reset stall silent less 429 408"
lasts="404 403 410 whole unsaid wrong more changed longer"
for kind in $passes; do
	mode "$T/good" "$kind" 1
done
for kind in $lasts; do
	mode "$T/bad" "$kind"
done
mode "$T/never" 500
read_file() { # PATH
	cat "$(epoch m)/${1%.jpg}.jpg.ppm" 2>/dev/null || cat "$(epoch m)/${1%.jpg}.ppm"
}
while read -r path; do
	read_file "$path" >"$T/${path##*/}.ppm" 2>"$T/error" &
	echo "$! $path" >>"$T/readers"
done < <(cat "$T/good" "$T/bad" "$T/never")
while read -r pid path; do
	status=0
	wait "$pid" || status=$?
	if grep -qxF "$path" "$T/good"; then
		equal "$(grep -F "$path" "$T/modes")" $status 0
	else
		equal "$(grep -F "$path" "$T/modes")" $status 1
	fi
done <"$T/readers"

says() { # MODE TEXT
	local path
	path=$(grep -E "^[^ ]+ $1( |\$)" "$T/modes" | tail -n 1 | cut -d' ' -f1)
	logged "$WEB/$path: $2"
}
says 404 "the server answers 404"
says 403 "the server answers 403"
says 410 "the server answers 410"
says whole "the server sends the whole object (200) instead of the requested range"
says unsaid "the server does not state which range it sends"
says wrong "the server sends the range 1-"
says more "the server sends more than the"
says changed "changed since the scan (rescan the dataset)"
says longer "changed since the scan (rescan the dataset)"
says 500 "the server answers 500"

# Transient errors were tried again, and others were not; 403 was tried twice, because other
# objects can be read.
asked() {
	grep -cF "$1 " "$T/modes.log"
}
while read -r path; do # one request is of the scan
	equal "requests for $(grep -F "$path" "$T/modes")" "$(asked "$path")" 3
done <"$T/good"
while read -r path; do
	equal "requests for $(grep -F "$path" "$T/modes")" "$(asked "$path")" $((2 + $(grep -cF "$path 403" "$T/modes")))
done <"$T/bad"
equal "requests for what never passes" "$(asked "$(<"$T/never")")" 8
equal "errors" "$(status_of m errors)" 10
! grep -q 'class1' <(grep -i warning "$LOG") || fail "others: $(<"$LOG")"
# The images that were read after all are right.
: >"$T/modes"
job_text again job.dataset=images tensor.crop=32 view.layout=mirror | ctl add -
while read -r path; do
	cmp "$T/${path##*/}.ppm" "$M/jobs/again/epoch-0000/${path%.jpg}".*
done <"$T/good"

# --- a shard is replaced while the daemon runs
cp "$T/web/tars/shards-000001.tar" "$T/shard"
touch -d 2001-01-01 "$T/web/tars/shards-000001.tar"
failures=0
for file in "$(epoch s)"/*/*; do
	cat "$file" >/dev/null 2>&1 || failures=$((failures + 1))
done
equal "samples of the changed shard" $failures 14
logged "$WEB/tars/shards-000001.tar/class0/0014.jpg: changed since the scan (rescan the dataset)"

# --- the server is silent
wait_for() {
	local _
	for _ in $(seq 200); do
		if "$@"; then return; fi
		sleep 0.05
	done
	fail "not so: $*"
}
ended() {
	[[ ! -e /proc/$1/exe ]]
}
(cd "$D" && find . -type f -printf '%P silent\n') >"$T/modes.new"
mv "$T/modes.new" "$T/modes"
job_text f job.dataset=far tensor.crop=32 view.lookahead=4 job.epochs=9 | ctl add -
job_text f2 job.dataset=far tensor.crop=24 view.lookahead=4 | ctl add -
cat "$(epoch f)/00000000.ppm" >/dev/null 2>&1 &
reader=$!
cat "$(epoch f2)/00000000.ppm" >/dev/null 2>&1 &
reader2=$!
silent() {
	grep -q ' silent' "$T/modes.log"
}
wait_for silent
# shellcheck disable=SC2016 # the other shell's
timeout 60 bash -c 'for file in "$1"/*; do cat "$file" >/dev/null || exit 1; done' - "$(epoch near)" ||
	fail "another job does not go on"
once near 40
kill -KILL "$reader2"
wait_for ended "$reader2"
timeout 10 "$BUILD/joaderctl" --socket "$T/socket" rm f2 || fail "a job can't be removed"
: >"$T/modes"
wait "$reader" || fail "the reader got an error"

(cd "$D" && find . -type f -printf '%P stall\n') >"$T/modes.new"
mv "$T/modes.new" "$T/modes"
cat "$(epoch f 0000)"/*.ppm >/dev/null 2>&1 &
stalls() {
	grep -q ' stall' <(tail -n 3 "$T/modes.log")
}
wait_for stalls
stop
! grep -q "have not ended" "$LOG" || fail "reads are left behind: $(<"$LOG")"
kill "$SERVER"
