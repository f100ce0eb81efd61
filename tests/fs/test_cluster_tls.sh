#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# beside: a server with TLS
# An engine by TLS: what is refused is a message, and is tried again until it is mended; an
# epoch of two nodes whose server is killed in the middle is whole.
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

# refused WORDS URL [LINE...]: status and doctor have them, while the daemon tries again
refused() {
	row "refused: $1"
	ENGINE=$2
	node a 'ttl = 1s' "${@:3}"
	launch a
	shows a "^message $1"
	shows a '^state away$'
	# The server's alert may be lost with the connection: then the next one tells.
	[[ $1 != *'ends TLS'* ]] || return 0
	"$BUILD/joaderctl" doctor "$T/a/joaderfs.ini" >"$T/doctor" 2>&1 && fail "doctor finds nothing"
	grep -q "^breaks .*$1" "$T/doctor" || fail "doctor: $(<"$T/doctor")"
}

# ended: and what it could not reach had no password in the log
ended() {
	end a
	unmount "$T/a/mnt"
	rm -r "$T/a"
	! grep -q hunter2 "$LOG" || fail "the password is in the log: $(<"$LOG")"
}

URL=rediss://alice:hunter2@localhost:$PORT

# An authority that has not signed it; the file is read again at each connection.
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

# The host's name counts, and an address is none.
ask config set tls-cert-file "$T/elsewhere.crt" tls-key-file "$T/elsewhere.key" >/dev/null
refused "the engine has a certificate that is not for host 'localhost'" "$URL" "${OURS[@]}"
ask config set tls-cert-file "$T/server.crt" tls-key-file "$T/server.key" >/dev/null
shows a '^engine reached$'
ended
refused "the engine has a certificate that is not for host '127.0.0.1'" \
	"rediss://alice:hunter2@127.0.0.1:$PORT" "${OURS[@]}"
ended
# The system's authorities don't know ours.
refused 'the engine has a certificate that this node does not accept' "$URL" "${OURS[@]:1}"
ended
# The server wants certificates of nodes, of its authority.
refused 'the engine ends TLS: .*certificate required' "$URL" "${OURS[@]:0:1}"
ended
refused 'the engine ends TLS: .*unknown ca' "$URL" "${OURS[@]:0:1}" \
	"engine_cert = $T/stranger.crt" "engine_key = $T/stranger.key"
ended
# A server that can't have what is safe, and one that has no TLS.
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

# An epoch, whose server is killed and comes back.
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

