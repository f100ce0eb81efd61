#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Files beside an image are read from servers, too: from tar shards of a web server, and from files
# of a bucket. A slow or silent server delays no reader of other files.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/web.sh"
"$PYTHON" "$FS/beside.py" make "$T"
web_start "$T"
job f view.beside="json txt"
job t view.layout=tar view.shard=5 view.beside="txt json" tensor.crop=16
job late view.beside=txt job.order=sequential tensor.crop=16
check() { # KIND PATH
	D=$2 config images.label=none joaderfs.state="$T/state-$1"
	start
	"$PYTHON" "$FS/beside.py" flat "$M/jobs/f" "$T" json txt
	"$PYTHON" "$FS/beside.py" tar "$M/jobs/t" "$T" txt json
	cat "$(epoch f)"/*.ppm >/dev/null
	nothing_held
}
check shards "$WEB/shards/part-{0..1}.tar"

# The server stops: a text waits, while files whose images are prepared are read.
late=$(epoch late)
cat "$late"/*.ppm "$(epoch f)"/*.ppm >/dev/null
pgrep -P "$WEB_PID" | xargs kill -STOP "$WEB_PID"
for i in 02 03 04 06; do
	cat "$late/000000$i.txt" >/dev/null &
	waiting[10#$i]=$!
done
sleep 0.3
timeout 20 cat "$(epoch f)"/*.ppm >/dev/null || fail "files of images wait for the texts"
timeout 20 cat "$M/jobs/f/status" >/dev/null
for reader in "${waiting[@]}"; do
	kill -0 "$reader" || fail "a text was there without its server"
done
pgrep -P "$WEB_PID" | xargs kill -CONT "$WEB_PID"
for reader in "${waiting[@]}"; do
	wait "$reader" || fail "a text was not read when the server was back"
done
web_stop
! cat "$late/00000004.txt" >/dev/null 2>&1 || fail "read without a server"
grep -qF "job late: " "$LOG"
stop

# A bucket lists the files beside its images.
"$PYTHON" -c 'import botocore' 2>/dev/null || exit 0
mkdir -p "$T/s3/bucket"
cp -r "$T/plain" "$T/s3/bucket/photos"
rm "$T/s3/bucket/photos/metadata.csv"
"$PYTHON" "$FS/s3_server.py" "$T/s3" id secret >"$T/port" 2>"$T/s3.errors" &
until [[ -s $T/port ]]; do sleep 0.05; done
answers "$(<"$T/port")"
unset "${!AWS_@}"
port=$(<"$T/port")
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_REGION=eu-test-1
export AWS_ACCESS_KEY_ID=id AWS_SECRET_ACCESS_KEY=secret
check bucket s3://bucket/photos
stop
