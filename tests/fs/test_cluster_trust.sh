#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: two nodes that trust each other, or don't
# Nodes with a secret, or with certificates of one authority, prepare each sample once, by TLS or,
# with encrypt = no, without it. Nodes that do not trust each other prepare all samples, and log
# the reason.
# shellcheck disable=SC2034 # cluster.sh uses them
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
command -v openssl >/dev/null || skip "no openssl"
N=48
dataset 2 $((N / 2))
redis --appendonly no
authority ours
authority others
certificate node ours DNS:node
certificate stranger others DNS:node
printf 'the nodes of one cluster know this\n' >"$T/secret"
chmod 600 "$T"/*.key
chmod 640 "$T/secret"
SECRET="secret = $T/secret"
CERTIFICATE="tls_cert = $T/node.crt
tls_key = $T/node.key
tls_ca = $T/ours.crt"
STRANGER="tls_cert = $T/stranger.crt
tls_key = $T/stranger.key
tls_ca = $T/others.crt"
PLAIN="$SECRET
encrypt = no"

read_all() {
	timeout 60 cat "$T/$1/mnt/jobs/plain/epoch-0000"/*.ppm >/dev/null
}

# pair DECODES LINES-OF-A LINES-OF-B [WORDS]: checks the number of decodes of both nodes, and that
# the log has WORDS
pair() {
	local name reader
	row "$4"
	: >"$LOG"
	rm -rf "$T/a" "$T/b"
	node a 'ttl = 2s' 'listen = 127.0.0.1:0' "$2"
	node b 'ttl = 2s' 'listen = 127.0.0.1:0' "$3"
	for name in a b; do
		job_text plain tensor.resize=64 tensor.crop=48 view.lookahead=8 >"$T/$name/jobs/plain.ini"
		launch $name
	done
	for name in a b; do
		shows $name '^member a 127'
		shows $name '^member b 127'
	done
	read_all a &
	reader=$!
	read_all b
	wait $reader || fail "a reader failed"
	equal "decodes" "$(($(of a decodes) + $(of b decodes)))" "$1"
	equal "fetched" "$(($(of a samples_fetched) + $(of b samples_fetched)))" $((2 * N - $1))
	[[ ! $4 ]] || logged "$4"
	for name in a b; do
		end $name
		unmount "$T/$name/mnt"
	done
}

# tells WORDS: checks that doctor prints WORDS
tells() {
	"$BUILD/joaderctl" doctor "$T/a/joaderfs.ini" >"$T/doctor" 2>&1 || true
	grep -q "$1" "$T/doctor" || fail "not '$1' in: $(<"$T/doctor")"
}

pair $N "$CERTIFICATE" "$CERTIFICATE" ''
tells 'nodes send images by TLS 1.3'
pair $N "$PLAIN" "$PLAIN" 'encrypt = no: nodes send images unencrypted'
tells '^costs .*nodes send images unencrypted (encrypt = no)'
pair $((2 * N)) "$PLAIN" "$SECRET" 'it encrypts, but this node has encrypt = no\|it has encrypt = no, but this node encrypts'
pair $((2 * N)) "$CERTIFICATE" "$STRANGER" 'this node does not accept its certificate: .*certificate'
if (($(effort 0 1))); then
	pair $((2 * N)) "$CERTIFICATE" "$SECRET" 'it is refused: its TLS has no secret\|it refuses this node: '
	pair $((2 * N)) '' "$SECRET" 'it has no secret or certificate, but this node has one'
fi

LISTEN_LINE='listen = 127.0.0.1:0'
not_started '[cluster]:tls_cert, tls_key and tls_ca belong together; allowed: all of them or none' \
	"$ENGINE" "$LISTEN_LINE" "tls_cert = $T/node.crt"
not_started '[cluster]:secret: found a secret and certificates; allowed: either secret, or tls_cert, tls_key and tls_ca' \
	"$ENGINE" "$LISTEN_LINE" "$SECRET" "$CERTIFICATE"
not_started "[cluster]:tls_cert: $T/node.crt: the certificate's key is not the key of tls_key, $T/stranger.key" "$ENGINE" \
	"$LISTEN_LINE" "${CERTIFICATE/node.key/stranger.key}"
not_started "[cluster]:tls_ca: $T/nowhere: No such file" "$ENGINE" \
	"$LISTEN_LINE" "${CERTIFICATE/ours.crt/nowhere}"
chmod 644 "$T/node.key"
not_started "[cluster]:tls_key: $T/node.key: any user may use the file (mode 644)" "$ENGINE" \
	"$LISTEN_LINE" "$CERTIFICATE"
not_started ']:encrypt: found "maybe", allowed: no, yes' "$ENGINE" "$LISTEN_LINE" 'encrypt = maybe'
