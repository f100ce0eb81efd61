#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# systemd accepts the unit and finds it well confined. The daemon sends the messages of Type=notify:
# ready, a watchdog's beats, stopping; also when the engine dies.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
unit=$T/joaderfs@.service
sed "s|/usr/local/bin/|$BUILD/|g" "$ROOT/config/joaderfs@.service" >"$unit"
if command -v systemd-analyze >/dev/null; then
	systemd-analyze verify --man=no "$unit" >"$T/verify" 2>&1 || fail "$(cat "$T/verify")"
	! grep -F "$unit" "$T/verify" || fail "systemd has something to say"
	systemd-analyze security --offline=yes --threshold=60 "$unit" >"$T/security" 2>&1 ||
		fail "$(tail -n 3 "$T/security")"
else
	echo "no systemd-analyze here"
fi

dataset 2 4
job a tensor.crop=32
config
"$PYTHON" - "$T/notify" >"$T/notified" <<'END' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    text = s.recv(4096).decode()
    print(*text.split("\n"), flush=True)
    if "STOPPING=1" in text:
        break
END
listener=$!
for _ in $(seq 100); do
	[[ ! -S $T/notify ]] || break
	sleep 0.05
done
# told TEXT TIMES: waits until the daemon has sent TEXT this number of times
told() {
	for _ in $(seq 100); do
		(($(grep -c "$1" "$T/notified" || true) < $2)) || return 0
		sleep 0.05
	done
	fail "$1 was not told $2 times: $(cat "$T/notified")"
}
export NOTIFY_SOCKET=$T/notify WATCHDOG_USEC=400000
start
unset NOTIFY_SOCKET WATCHDOG_USEC
told "READY=1" 1
told "WATCHDOG=1" 3
kill_engine
told "WATCHDOG=1" $(($(grep -c WATCHDOG=1 "$T/notified") + 3))
stop
wait $listener
told "STOPPING=1" 1
