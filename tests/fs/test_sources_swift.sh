#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A real server of S3, OpenStack Swift's: the same images in a directory and in its buckets, as
# files and as tar shards, give the same files, labels and orders. A client with another secret gets
# none.
. "$(dirname "$0")/lib.sh"
. "$FS/sources.sh"
. "$FS/web.sh"
"$PYTHON" -c 'import swift, botocore' 2>/dev/null || skip "no swift or botocore for $PYTHON on this system"
command -v memcached >/dev/null || skip "no memcached"
dataset 3 8
mkdir -p "$T/buckets/photos/train" "$T/swift"
mv "$D/class2/0001.jpg" "$D/class2/a b+c%41#?&=é~.jpg"
cp -r "$D"/class* "$T/buckets/photos/train"
"$ROOT/tools/demo-source" tar "$D" "$T/buckets/tars"
unset "${!AWS_@}"
export AWS_REGION=eu-test-1 AWS_ACCESS_KEY_ID=group:user AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+key
"$PYTHON" "$FS/swift_server.py" "$T/swift" "$AWS_ACCESS_KEY_ID" "$AWS_SECRET_ACCESS_KEY" \
	"$AWS_REGION" "$T/buckets" >"$T/port" 2>"$T/swift.log" &
SWIFT=$!
until [[ -s $T/port ]]; do
	kill -0 "$SWIFT" 2>/dev/null || fail "the server has ended: $(tail -n 20 "$T/swift.log")"
	sleep 0.05
done
AWS_ENDPOINT_URL=http://127.0.0.1:$(<"$T/port")
export AWS_ENDPOINT_URL
sources_jobs

path_of() {
	case $1 in
	directory) echo "$D" ;;
	files) echo "s3://photos/train" ;;
	tars) echo "s3://tars/" ;;
	pattern) echo "s3://tars/shards-{000000..000002}.tar" ;;
	esac
}
for kind in directory files tars pattern; do
	mount_source "$kind"
	copy "$kind"
	once a 24
	nothing_held
	stop
	no_warnings
	[[ $kind == directory ]] || diff -r "$T/out-directory" "$T/out-$kind"
done

D=s3://photos/train config joaderfs.state="$T/state-wrong"
AWS_SECRET_ACCESS_KEY=another refused "the server answers 403: SignatureDoesNotMatch"
D=s3://none/train config joaderfs.state="$T/state-none"
refused "the server answers 404: NoSuchBucket"
