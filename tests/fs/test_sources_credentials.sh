#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Credentials are found where Amazon's tools look for them: keys in the environment, a web identity,
# a profile, the container's service, the machine's; they are renewed before they expire. Requests
# are unsigned only if the ini asks for it. No output shows a secret.
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/s3.sh"
# beside: it waits for keys to end
dataset 2 3
mkdir -p "$T/s3/bucket"
cp -r "$D" "$T/s3/bucket/photos"
s3_start
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE
echo 3600 >"$T/s3.keys.lifetime"
"$PYTHON" "$FS/metadata_server.py" "$T/s3.keys" >"$T/metadata" 2>"$T/metadata.errors" &
until [[ -s $T/metadata ]]; do sleep 0.05; done
SERVICE=http://127.0.0.1:$(<"$T/metadata")
export HOME=$T/home
mkdir -p "$HOME/.aws"
job a tensor.crop=32 view.lookahead=1

D=s3://bucket/photos
n=0
# reads KEY [NAME=VALUE...] [-- images.key=value...]: reads an epoch, with a key that begins with
# KEY
reads() {
	local key=$1 environment=(AWS_EC2_METADATA_DISABLED=true)
	shift
	while (($#)) && [[ $1 != -- ]]; do
		environment+=("$1")
		shift
	done
	n=$((n + 1))
	config joaderfs.state="$T/state-$n" "${@:2}"
	: >"$T/s3.log"
	export "${environment[@]}"
	start
	read_epoch a
	once a 6
	stop
	unset "${environment[@]%%=*}"
	equal "keys of $key" "$(awk '{print $(NF - 1)}' "$T/s3.log" | sort -u | sed 's/[0-9]*$//')" "$key"
	no_warnings
	! grep -ralF -e secret/ -e token== -e "$S3_SECRET" "$LOG" "$T"/state-* || fail "a secret is shown"
}
identity=(AWS_WEB_IDENTITY_TOKEN_FILE="$T/identity" AWS_ENDPOINT_URL_STS="$SERVICE")
echo "web+identity/=" >"$T/identity"
reads "$S3_ID" AWS_ACCESS_KEY_ID="$S3_ID" AWS_SECRET_ACCESS_KEY="$S3_SECRET" "${identity[@]}" AWS_ROLE_ARN=arn:a/b
reads STS "${identity[@]}" AWS_ROLE_ARN=arn:a/b
reads ECS AWS_CONTAINER_CREDENTIALS_FULL_URI="$SERVICE/container" \
	AWS_CONTAINER_AUTHORIZATION_TOKEN="of the container"
reads EC AWS_EC2_METADATA_DISABLED=false AWS_EC2_METADATA_SERVICE_ENDPOINT="$SERVICE"
cat >"$HOME/.aws/credentials" <<-END
	[default]
	aws_access_key_id = $S3_ID
	aws_secret_access_key = $S3_SECRET
	[other]
	aws_access_key_id = none
END
cat >"$HOME/.aws/config" <<-END
	[profile program]
	credential_process = cat "$T/printed" # of the user's
	[profile identity]
	role_arn = arn:a/b
	web_identity_token_file = $T/identity
	[profile sso]
	sso_session = x
	[profile chained]
	role_arn = arn:a/b
	source_profile = default
	[profile wide]
	region = eu-test-1
	credential_process = exit 3
END
reads "$S3_ID"
echo '{"Version": 1, "AccessKeyId": "PROGRAM1", "SecretAccessKey": "secret/p", "SessionToken": "token==p"}' \
	>"$T/printed"
echo "PROGRAM1 secret/p token==p 0" >>"$T/s3.keys"
reads PROGRAM AWS_PROFILE=program
reads STS AWS_ENDPOINT_URL_STS="$SERVICE" -- images.profile=identity
echo yes >"$T/s3.open"
reads none AWS_PROFILE=program -- images.credentials=none
rm "$T/s3.open"

# --- refusals
refuses() { # [NAME=VALUE...] [-- images.key=value...] -- TEXT...
	local environment=() settings=()
	while [[ $1 != -- ]]; do environment+=("$1") && shift; done
	shift
	while [[ $1 == images.* ]]; do settings+=("$1") && shift; done
	config joaderfs.state="$T/state-refused" "${settings[@]}"
	rm -rf "$T/state-refused"
	export AWS_EC2_METADATA_DISABLED=true "${environment[@]}"
	refused "$@"
	[[ ! -v environment ]] || unset "${environment[@]%%=*}"
}
refuses -- images.credentials=none "the server answers 403: AccessDenied: no signature"
refuses AWS_PROFILE=nobody -- 'profile: found "nobody", allowed: a profile of '
refuses -- images.profile=other "profile other: found no credentials"
refuses -- images.profile=sso "profile sso: found sso, allowed: credential_process"
refuses -- images.profile=chained "profile chained: found role_arn with source_profile"
refuses -- images.profile=wide "credential_process ended with the status 3"
refuses "${identity[@]}" AWS_ROLE_ARN=another -- "STS answers 400: ValidationError"
rm "$HOME/.aws/credentials"
refuses -- "found no credentials in the environment or a profile; credentials = none reads without"
refuses AWS_ACCESS_KEY_ID=x -- "only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set"
refuses AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/x -- "allowed: https, or http of this machine"
# --- regions, names of hosts, requesters who pay
echo us-west-9 >"$T/s3.region"
echo yes >"$T/s3.payer"
export AWS_ACCESS_KEY_ID=$S3_ID AWS_SECRET_ACCESS_KEY=$S3_SECRET AWS_ENDPOINT_URL=http://localhost:${ENDPOINT##*:}
reads "$S3_ID" AWS_REGION= -- images.bucket_names=host images.requester_pays=yes
grep -q "s3://bucket/photos: the server says that the bucket is in the region us-west-9" "$LOG" ||
	fail "the region is not told: $(<"$LOG")"
equal "hosts" "$(awk '$1 == 206 {print $NF}' "$T/s3.log" | sort -u)" "bucket.localhost:${ENDPOINT##*:}"
refuses AWS_REGION=us-west-9 -- "the server answers 403: AccessDenied: requesters pay"
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
rm "$T/s3.region" "$T/s3.payer"
unset AWS_EC2_METADATA_DISABLED

# --- keys are renewed before they end, and reads wait while the service is away
echo 4 >"$T/s3.keys.lifetime"
export AWS_EC2_METADATA_SERVICE_ENDPOINT=$SERVICE
config joaderfs.state="$T/state-renewed"
: >"$T/s3.keys.log"
start
for i in 0 1 2; do
	cat "$(epoch a)/0000000$i.ppm" >/dev/null
	sleep 1.7
done
[[ $(grep -c a-role "$T/s3.keys.log") -gt 1 ]] || fail "nothing is renewed: $(<"$T/s3.keys.log")"
no_warnings
touch "$T/s3.keys.away"
sleep 4.2
cat "$(epoch a)/00000003.ppm" "$(epoch a)/00000004.ppm" >/dev/null & # the first was read ahead
reader=$!
logged "the source refuses all reads: credentials: the machine's service answers 503"
rm "$T/s3.keys.away"
wait $reader || fail "a reader did not wait"
read_epoch a
once a 6
equal "errors" "$(status_of a errors)" 0
