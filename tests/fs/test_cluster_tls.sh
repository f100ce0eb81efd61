#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: a server with TLS
# An engine by TLS: a refusal gives a message, and is tried again until its cause is removed. An
# epoch of two nodes whose server is killed in the middle is complete.
# shellcheck disable=SC2034 # cluster.sh uses them
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
command -v openssl >/dev/null || skip "no openssl"
dataset 2 40

authority ours
authority others
certificate server ours DNS:localhost
certificate elsewhere ours DNS:elsewhere
certificate node ours DNS:node
certificate stranger others DNS:node
chmod 600 "$T"/*.key
PORT=$(free_port)
WITH=(--tls-port "$PORT" --bind 127.0.0.1 ::1 --tls-cert-file "$T/server.crt"
	--tls-key-file "$T/server.key" --tls-ca-cert-file "$T/ours.crt")
redis "${WITH[@]}"
ask acl setuser alice on '>hunter2' '~*' +@all >/dev/null
OURS=("engine_ca = $T/ours.crt" "engine_cert = $T/node.crt" "engine_key = $T/node.key")

# refused WORDS URL [LINE...]: checks that status and doctor print WORDS, and that the daemon tries
# again
refused() {
	row "refused: $1"
	ENGINE=$2
	node a 'ttl = 1s' "${@:3}"
	launch a
	shows a "^message $1"
	shows a '^state away$'
	# The server's alert may be lost with a connection; a later connection gets it.
	[[ $1 != *'ends TLS'* ]] || return 0
	"$BUILD/joaderctl" doctor "$T/a/joaderfs.ini" >"$T/doctor" 2>&1 && fail "doctor finds nothing"
	grep -q "^breaks .*$1" "$T/doctor" || fail "doctor: $(<"$T/doctor")"
}

# ended: ends the daemon, and checks that no password is in its log
ended() {
	end a
	unmount "$T/a/mnt"
	rm -r "$T/a"
	! grep -q hunter2 "$LOG" || fail "the password is in the log: $(<"$LOG")"
}

URL=rediss://alice:hunter2@localhost:$PORT

# The authority has not signed the certificate. Its file is read again at each connection.
cp "$T/others.crt" "$T/known.crt"
refused 'the engine has a certificate that this node does not accept: .*certificate' "$URL" \
	"engine_ca = $T/known.crt" "${OURS[@]:1}"
cp "$T/ours.crt" "$T/known.crt"
shows a '^engine reached$'
rm "$T/known.crt"
ask client kill type normal skipme yes >/dev/null
shows a "^message the engine has no TLS here: engine_ca: $T/known.crt: No such file"
cp "$T/ours.crt" "$T/known.crt"
shows a '^engine reached$'
ended

# The certificate must have the host's name; an address is no name.
ask config set tls-cert-file "$T/elsewhere.crt" tls-key-file "$T/elsewhere.key" >/dev/null
refused "the engine has a certificate that is not for host 'localhost'" "$URL" "${OURS[@]}"
ask config set tls-cert-file "$T/server.crt" tls-key-file "$T/server.key" >/dev/null
shows a '^engine reached$'
ended
refused "the engine has a certificate that is not for host '127.0.0.1'" \
	"rediss://alice:hunter2@127.0.0.1:$PORT" "${OURS[@]}"
ended
# The system's authorities do not know this test's authority.
refused 'the engine has a certificate that this node does not accept' "$URL" "${OURS[@]:1}"
ended
# The server requires certificates of nodes, signed by its authority.
refused 'the engine ends TLS: .*certificate required' "$URL" "${OURS[@]:0:1}"
ended
refused 'the engine ends TLS: .*unknown ca' "$URL" "${OURS[@]:0:1}" \
	"engine_cert = $T/stranger.crt" "engine_key = $T/stranger.key"
ended
# A server with unsafe ciphers or protocols only, and one without TLS, are refused.
ask config set tls-ciphers DEFAULT@SECLEVEL=0 >/dev/null
ask config set tls-protocols TLSv1.1 >/dev/null
refused 'the engine ends TLS: ' "$URL" "${OURS[@]}"
ask config set tls-protocols TLSv1.2 >/dev/null
shows a '^engine reached$'
ended
ask config set tls-protocols 'TLSv1.2 TLSv1.3' >/dev/null
PLAIN=$(free_port)
ask config set port "$PLAIN" >/dev/null
refused 'the engine does not answer the handshake of TLS' "rediss://alice:hunter2@localhost:$PLAIN" "${OURS[@]}"
ended

chmod 644 "$T/node.key"
not_started "[cluster]:engine: engine_key: $T/node.key: any user may use the file (mode 644)" \
	"$URL" "${OURS[@]}"
chmod 600 "$T/node.key"
not_started "engine_cert: $T/node.crt: the certificate's key is not the key of engine_key, $T/stranger.key" \
	"$URL" "${OURS[@]:0:2}" "engine_key = $T/stranger.key"
not_started "engine_cert: $T/node.key: no certificate in PEM" "$URL" "${OURS[@]:0:1}" \
	"engine_cert = $T/node.key" "engine_key = $T/node.key"
chmod 600 "$T/node.crt"
not_started "engine_key: $T/node.crt: no key in PEM without a passphrase" "$URL" "${OURS[@]:0:1}" \
	"engine_cert = $T/node.crt" "engine_key = $T/node.crt"
not_started 'engine_cert and engine_key belong together' "$URL" "${OURS[@]:0:2}"
not_started 'engine_ca is only for rediss:// and rediss-sentinel://' "redis://localhost:$PORT" \
	"${OURS[@]}"
rm -r "$T/a"

# The server is killed and comes back during an epoch.
ENGINE=rediss://localhost:$PORT
RANKS=2
head -c 32 /dev/urandom >"$T/secret"
chmod 600 "$T/secret"
for name in a b; do node $name 'ttl = 1s' "${OURS[@]}"; done
rank a 0 tensor.crop=32
rank b 1 tensor.crop=32
for name in a b; do launch $name; done
ALL=(0 1)
read_ranks 20 0:"$T/a/mnt/jobs/r0" 1:"$T/b/mnt/jobs/r1"
they_go_on 0 1
kill_redis
redis "${WITH[@]}"
they_go_on 0 1
finish_reading
for name in a b; do end $name; done

