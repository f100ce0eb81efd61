# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# A server of s3 on the loopback. Sourced after lib.sh and web.sh.
"$PYTHON" -c 'import botocore' 2>/dev/null || skip "no botocore for $PYTHON on this system"
unset "${!AWS_@}"
export AWS_EC2_METADATA_DISABLED=true AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_CONFIG_FILE=/dev/null
# shellcheck disable=SC2034 # the tests use them
S3_ID=AKIDEXAMPLE S3_SECRET=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY S3_TOKEN=FwoGZXIvYXdzEJr==/+token

# s3_start [TOKEN]: starts the server, whose buckets are the directories in $T/s3, and puts its
# keys into the environment
s3_start() {
	: >"$T/port"
	"$PYTHON" "$FS/s3_server.py" "$T/s3" "$S3_ID" "$S3_SECRET" "$@" >"$T/port" 2>"$T/s3.errors" &
	# shellcheck disable=SC2034 # the tests use it
	S3=$!
	for _ in $(seq 400); do
		[[ ! -s $T/port ]] || break
		sleep 0.05
	done
	answers "$(<"$T/port")"
	ENDPOINT=http://127.0.0.1:$(<"$T/port")
	export AWS_ENDPOINT_URL=$ENDPOINT AWS_REGION=eu-test-1
	export AWS_ACCESS_KEY_ID=$S3_ID AWS_SECRET_ACCESS_KEY=$S3_SECRET
}

# s3_says ["STATUS CODE [ENDING]"...]: makes the server answer requests with these errors; with
# ENDING only requests for such paths. Without arguments the server serves objects again
s3_says() {
	: >"$T/s3.says.new"
	(($# == 0)) || printf '%s\n' "$@" >"$T/s3.says.new"
	mv "$T/s3.says.new" "$T/s3.says"
}
