#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# --metrics, and metrics in the ini: a server from which Prometheus accepts the metrics. Each query
# of config/grafana.json has an answer there. Later engines serve it, too.
. "$(dirname "$0")/lib.sh"
dataset 2 12 64x64

# port: prints the port at which the latest daemon serves metrics
port() {
	sed -nE 's/.*metrics are at http:\/\/.*:([0-9]+)\/metrics$/\1/p' "$LOG" | tail -n 1
}
# get PORT [ARGUMENT...]
get() {
	"$PYTHON" - "$@" <<'PYTHON'
import sys, urllib.error, urllib.request
port, path, accept, method = (sys.argv[1:] + ["/metrics", "", "GET"][len(sys.argv) - 2:])[:4]
request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method,
                                 headers={"Accept": accept} if accept else {})
try:
    answer = urllib.request.urlopen(request, timeout=30)
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.write(f"{answer.status} {answer.headers['Content-Type']}\n" + answer.read().decode())
PYTHON
}

# refused_with PLACE TEXT: checks that another daemon does not start at PLACE, and prints TEXT
refused_with() {
	local status=0
	timeout 20 "$PROGRAM" "$T/other.ini" "$T/other" -f --metrics "$1" >"$T/refused" 2>&1 || status=$?
	((status != 0 && status < 124)) || fail "--metrics $1: status $status"
	grep -qF -- "$2" "$T/refused" || fail "--metrics $1: $(cat "$T/refused")"
	! mounted "$T/other" || fail "--metrics $1: it left a mount"
}
mkdir "$T/other"
printf '[joaderfs]\nstate = %s\nsocket = %s\n[dataset images]\npath = %s\n' \
	"$T/other-state" "$T/other-socket" "$D" >"$T/other.ini"
# shellcheck disable=SC2119
config joaderfs.cache=120000
if timeout 20 "$PROGRAM" "$T/other.ini" "$T/other" -f --metrics 127.0.0.1:99999 2>&1 | grep -q 'built without'; then
	skip "built without libmicrohttpd"
fi
refused_with localhost:9101 'metrics: found "localhost:9101", allowed: PORT, ADDRESS:PORT'
refused_with 70000 'metrics: found "70000"'
refused_with '' 'metrics: found ""'

job fast tensor.crop=64 job.epochs=9
job slow tensor.crop=64 job.epochs=9 view.lookahead=1
start --metrics 0
P=$(port)
[[ $P =~ ^[0-9]+$ ]] || fail "the log does not tell the port: $(cat "$LOG")"
grep -q 'metrics are at http://127.0.0.1:' "$LOG" || fail "others can reach it: $(cat "$LOG")"
refused_with "$P" "metrics: can't listen at $P: Address already in use"
cat "$(epoch slow)/00000000.ppm" >/dev/null
read_epoch fast

get "$P" >"$T/text"
equal "head of the text" "$(head -n 1 "$T/text")" "200 text/plain; version=0.0.4; charset=utf-8"
equal "its names" "$(sed -nE 's/^(joaderfs_[a-z_0-9]+).*/\1/p' "$T/text" | sort -u)" \
	"$(sed -nE 's/^(joaderfs_[a-z_0-9]+).*/\1/p' "$M/metrics" | sort -u)"
get "$P" /metrics 'application/openmetrics-text;version=1.0.0' >"$T/open"
equal "head of OpenMetrics" "$(head -n 1 "$T/open")" \
	"200 application/openmetrics-text; version=1.0.0; charset=utf-8"
equal "end of OpenMetrics" "$(tail -n 1 "$T/open")" "# EOF"
grep -q '^# TYPE joaderfs_decodes counter$' "$T/open" || fail "a counter is named by its total"
get "$P" /dashboard.html >"$T/page"
equal "head of the page" "$(head -n 1 "$T/page")" "200 text/html; charset=utf-8"
grep -q '^{"name":"slow","dataset":"images",' "$T/page" || fail "no job on the page"
get "$P" / | sed -n 1p | grep '^404 ' || fail "another path"
get "$P" /metrics '' POST | sed -n 1p | grep '^405 ' || fail "another method"
get "$P" /metrics '' HEAD | sed -n 1p | grep '^200 ' || fail "HEAD"
# a client that sends nothing, or nonsense, blocks no other client
exec 7<>"/dev/tcp/127.0.0.1/$P"
exec 8<>"/dev/tcp/127.0.0.1/$P"
head -c 100000 /dev/zero >&8 2>/dev/null || true
get "$P" | sed -n 1p | grep '^200 ' || fail "after nonsense"
exec 7<&- 8<&-

# slow N: starts N slow clients in the background; $slow is their input, and $T/slow their output
slow() {
	: >"$T/slow"
	exec {slow}> >(exec "$PYTHON" "$FS/slow_clients.py" "$P" "$1" >"$T/slow")
	until [[ -s $T/slow ]]; do sleep 0.05; done
}
# a client of another address, whose request comes in two parts, stays beside 40 clients of one
# address
coproc OTHER { "$PYTHON" -c '
import socket, sys
client = socket.create_connection(("127.0.0.1", sys.argv[1]), source_address=("127.0.0.2", 0))
client.sendall(b"GET /metrics HTTP/1.1\r\n")
print("ready", flush=True)
sys.stdin.readline()
client.sendall(b"Host: x\r\n\r\n")
print(client.recv(15).decode(), flush=True)
' "$P"; }
read -r -u "${OTHER[0]}" answer
slow 40
echo >&"${OTHER[1]}"
read -r -u "${OTHER[0]}" answer
equal "the client of another address" "$answer" "HTTP/1.1 200 OK"
for _ in 1 2 3 4 5 6 7 8; do
	get "$P" | sed -n 1p | grep '^200 ' || fail "beside slow clients"
done
exec {slow}>&-

# A request must arrive in a limited time, however little of it the client sends.
stop
start --metrics 0 --fault web.patience:EIO
P=$(port)
slow 1
until grep -q 'hung up' "$T/slow"; do sleep 0.1; done
exec {slow}>&-

# another engine serves at the same place
config joaderfs.cache=120000 "joaderfs.metrics=127.0.0.1:$P"
stop
start
equal "port of the ini" "$(port)" "$P"
kill -KILL "$(pgrep -P "$PID" | head -n 1)"
for _ in $(seq 200); do
	! get "$P" >"$T/text" 2>/dev/null || break
	sleep 0.05
done
grep -q '^joaderfs_jobs 2$' "$T/text" || fail "no metrics of the engine that follows"

command -v prometheus >/dev/null || skip "no prometheus on this system"
timeout 300 "$PYTHON" "$FS/dashboard.py" "$ROOT/config/grafana.json" "$P" "$T/prometheus" "$M"
