#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The same images in a directory and in a bucket, as files and as tar shards, give the same files,
# labels and orders. Each request has the signature that botocore computes. The keys come from the
# environment or from a file that no other user may read, and no output shows them.
. "$(dirname "$0")/lib.sh"
. "$FS/sources.sh"
. "$(dirname "$0")/web.sh"
. "$FS/s3.sh"
dataset 3 8
mkdir -p "$T/s3/bucket/photos/train"
cp -r "$D/class1" "$D/class0" "$T/s3/bucket/photos/train"
mv "$D/class2/0001.jpg" "$D/class2/a b+c%41#?&=é~.jpg"
cp -r "$D/class2" "$T/s3/bucket/photos/train"
mkdir "$T/s3/bucket/photos/training"
cp "$D/class0/0000.jpg" "$T/s3/bucket/photos/training/other.jpg"
"$ROOT/tools/demo-source" tar "$D" "$T/s3/bucket/tars"
s3_start
sources_jobs

path_of() {
	case $1 in
	directory) echo "$D" ;;
	files) echo "s3://bucket/photos/train" ;;
	tars) echo "s3://bucket/tars/" ;;
	pattern) echo "s3://bucket/tars/shards-{000000..000002}.tar" ;;
	esac
}
# nowhere: checks that no file of the mount or the state, and no log, has a secret
nowhere() {
	local found
	ctl ls >"$T/seen" 2>&1
	ctl datasets images >>"$T/seen" 2>&1
	cat "$M"/{README,stats,stats.json,metrics} "$M"/datasets/images/* >>"$T/seen"
	cat "$M"/jobs/a/{job.ini,status,state,*.order} >>"$T/seen" 2>/dev/null || true
	grep -aq 'samples_served' "$T/seen" || fail "nothing is looked at"
	found=$(grep -ralF -e "$S3_SECRET" -e "$S3_TOKEN" -e "$S3_ID" "$T/seen" "$LOG" "$T"/state-* || true)
	[[ -z $found ]] || fail "what is secret is in $found"
}

for kind in directory files tars pattern; do
	mount_source "$kind"
	copy "$kind"
	once a 24
	nowhere
	nothing_held
	stop
	no_warnings
	[[ $kind == directory ]] || diff -r "$T/out-directory" "$T/out-$kind"
done
equal "answers" "$(cut -d' ' -f1 "$T/s3.log" | sort -u | xargs)" "200 206"

# --- a restart reads only the listing
: >"$T/s3.log"
mount_source files
equal "pages of a restart" "$(grep -c list-type "$T/s3.log")" 5
equal "requests of a restart" "$(wc -l <"$T/s3.log")" 5
stop
printf 'no image' >"$T/s3/bucket/photos/train/class0/new.jpg"
cp "$D/class1/0000.jpg" "$T/s3/bucket/photos/train/class1/0001.jpg"
: >"$T/s3.log"
mount_source files
equal "samples with one more" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 25
equal "files that are looked at again" "$(grep -v list-type "$T/s3.log" | cut -d' ' -f2 | sort -u | xargs)" \
	"/bucket/photos/train/class0/new.jpg /bucket/photos/train/class1/0001.jpg"
stop

# --- an object changes while the daemon runs
mount_source files
cp "$D/class1/0005.jpg" "$T/s3/bucket/photos/train/class1/0004.jpg"
! cat "$(epoch m)/class1/0004".* >/dev/null 2>&1 || fail "an object that changed is read"
logged 's3://bucket/photos/train/class1/0004.jpg: changed since the scan'
stop

# --- keys from a file
kill "$S3"
s3_start "$S3_TOKEN"
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_ENDPOINT_URL AWS_REGION
cat >"$T/keys" <<-END
	[other]
	aws_access_key_id = no
	[default]
	aws_access_key_id = $S3_ID
	aws_secret_access_key=$S3_SECRET
	aws_session_token = $S3_TOKEN
END
keys=(images.credentials="$T/keys" images.endpoint="$ENDPOINT" images.region=eu-test-1)
chmod 0644 "$T/keys"
D=s3://bucket/tars config joaderfs.state="$T/state-keys" "${keys[@]}"
refused "$T/keys: found the mode 0644, allowed: a file of mode 0600"
chmod 0600 "$T/keys"
start
read_epoch a
once a 24
nowhere
stop

# --- refusals
refuse() { # SETTINGS... -- TEXT...
	local settings=()
	while [[ $1 != -- ]]; do
		settings+=("$1")
		shift
	done
	rm -rf "$T/state-refused"
	config joaderfs.state="$T/state-refused" "${settings[@]}"
	refused "${@:2}"
	! grep -qF "$S3_SECRET" "$LOG" || fail "the secret is in a message"
}
D=s3://bucket/tars
refuse images.endpoint="$ENDPOINT" images.credentials=none -- "the server answers 403: AccessDenied: no signature"
sed "s|$S3_SECRET|another|" "$T/keys" >"$T/wrong"
chmod 600 "$T/wrong"
refuse images.endpoint="$ENDPOINT" images.region=eu-test-1 images.credentials="$T/wrong" -- \
	"the server answers 403: SignatureDoesNotMatch"
echo "[default]" >"$T/wrong"
refuse images.endpoint="$ENDPOINT" images.credentials="$T/wrong" -- "found no aws_access_key_id"
refuse images.endpoint="ftp://x" -- "endpoint: found \"ftp://x\", allowed: http://HOST"
D=s3://none/x
refuse "${keys[@]}" -- "the server answers 404: NoSuchBucket: The specified bucket does not exist"
kill "$S3"
