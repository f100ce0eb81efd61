#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The same images in a directory and in Google's storage, Azure's and a data set of Hugging Face
# give the same files, labels and orders. Each has its own credentials, and never Amazon's.
. "$(dirname "$0")/lib.sh"
. "$FS/sources.sh"
. "$FS/web.sh"
. "$FS/s3.sh"
dataset 2 4
mv "$D/class1/0001.jpg" "$D/class1/a b+c%41#?&=é~.jpg"
mkdir -p "$T/s3/bucket" "$T/cloud/photos" "$T/cloud/org/name"
cp -r "$D" "$T/s3/bucket/train"
cp -r "$D" "$T/cloud/photos/train"
"$ROOT/tools/demo-source" tar "$D" "$T/cloud/org/name/main"
cp -r "$T/cloud/org/name/main" "$T/cloud/org/name/v1"
s3_start
echo 3600 >"$T/s3.keys.lifetime"
"$PYTHON" "$FS/metadata_server.py" "$T/s3.keys" >"$T/metadata" 2>"$T/metadata.errors" &
"$PYTHON" "$FS/cloud_server.py" "$T/cloud" >"$T/clouds" 2>"$T/clouds.errors" &
until [[ -s $T/metadata && -s $T/clouds ]]; do sleep 0.05; done
CLOUD=http://127.0.0.1:$(<"$T/clouds")
unset AWS_ENDPOINT_URL
export AWS_ACCESS_KEY_ID=amazon AWS_SECRET_ACCESS_KEY=amazon HF_ENDPOINT=$CLOUD HOME=$T
GCE_METADATA_HOST=127.0.0.1:$(<"$T/metadata")
export GCE_METADATA_HOST
sources_jobs

path_of() {
	case $1 in
	directory) echo "$D" ;;
	google*) echo "gs://bucket/train" ;;
	azure) echo "az://account/photos/train" ;;
	hf) echo "hf://datasets/org/name/shards-{000000..000002}.tar" ;;
	revision) echo "hf://datasets/org/name@v1/shards-{000000..000002}.tar" ;;
	esac
}
printf '[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n' "$S3_ID" "$S3_SECRET" >"$T/hmac"
echo '?sv=2022&sig=s%2Fg' >"$T/sas"
echo hf_token >"$T/token"
chmod 0600 "$T/hmac" "$T/sas" "$T/token"
echo auto >"$T/s3.region"
echo ya29.token >"$T/s3.bearer"
for kind in directory google google-keys azure hf revision; do
	settings=()
	case $kind in
	google) settings=(images.endpoint="$ENDPOINT") ;;
	google-keys) settings=(images.endpoint="$ENDPOINT" images.credentials="$T/hmac") ;;
	azure) settings=(images.endpoint="$CLOUD" images.credentials="$T/sas") ;;
	revision) settings=(images.credentials="$T/token") && unset HF_TOKEN ;;
	hf) export HF_TOKEN=hf_token ;;
	esac
	: >"$T/s3.log"
	mount_source "$kind" "${settings[@]}"
	copy "$kind"
	once a 8
	stop
	no_warnings
	! grep -ralF -e ya29 -e "sig=" -e hf_token -e "$S3_SECRET" "$LOG" "$T"/state-* || fail "a secret is shown"
	[[ $kind != google* ]] || awk '{print $(NF - 1)}' "$T/s3.log" | sort -u >"$T/keys-$kind"
	[[ $kind == directory ]] || diff -r "$T/out-directory" "$T/out-$kind"
done
equal "keys for Google" "$(cat "$T/keys-google" "$T/keys-google-keys" | xargs)" "bearer $S3_ID"

refuse() { # PATH SETTINGS... -- TEXT
	local settings=() path=$1
	shift
	while [[ $1 != -- ]]; do settings+=("$1") && shift; done
	rm -rf "$T/state-refused"
	D=$path config joaderfs.state="$T/state-refused" "${settings[@]}"
	refused "${@:2}"
}
refuse az://account/photos/train images.endpoint="$CLOUD" -- "the server answers 403: AuthenticationFailed"
refuse hf://datasets/org/name/x.tar -- "the server answers 401"
refuse hf://datasets/org/name/train -- "allowed URLs: tar files"
refuse az://account/photos/train images.endpoint=ftp://x -- 'endpoint: found "ftp://x", allowed: http://HOST'
