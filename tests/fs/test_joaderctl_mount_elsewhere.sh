#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl mount in name spaces without the daemon's mounts and processes: the mount can be read
# there, is invisible here, and ends with them.
. "$(dirname "$0")/mounts.sh"
unshare -mpf --mount-proc true 2>/dev/null || skip "no name spaces of processes here"
dataset 1 6
job a tensor.resize=64 tensor.crop=64 job.epochs=2
start --fault "load.read:NONE:until=$T/go"
alone=$(sessions)
mkdir "$T/x"
export T BUILD

# The daemon's mount name space gets no mount. A reader that is killed while it waits ends at once.
unshare -mpf --mount-proc bash -eu <<'END'
umount "$T/mnt"
"$BUILD/joaderctl" -s "$T/socket" mount a "$T/x"
for i in 0 1 2 3 4 5; do
	cat "$T/x/epoch-0000/0000000$i.ppm" >"$T/read$i" &
done
until (($(sed -n 's/^bound *//p' "$T/x/status") == 6)); do sleep 0.01; done
kill -KILL $!
wait $! || true
sed -n 's/^consumed *//p' "$T/x/status" >"$T/consumed"
touch "$T/go"
wait
END
equal "consumed when the killed reader went" "$(<"$T/consumed")" 0
equal "bytes" "$(cat "$T"/read? | wc -c)" $((5 * (13 + 64 * 64 * 3)))
! mounted "$T/x" || fail "it is mounted here too"
wait_sessions "$alone"

# The root of a user name space may mount there.
if unshare -Urm true 2>/dev/null; then
	unshare -Urm bash -eu <<-'END' || fail "not in a user name space"
		"$BUILD/joaderctl" -s "$T/socket" mount a "$T/x"
		cat "$T/x/epoch-0000"/*.ppm | wc -c >"$T/bytes"
	END
	equal "bytes" "$(<"$T/bytes")" $((6 * (13 + 64 * 64 * 3)))
	wait_sessions "$alone"
fi
stop
