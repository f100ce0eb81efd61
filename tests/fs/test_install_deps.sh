#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# tools/install-deps with stubs in place of apt's programs: it waits for a lock of another program,
# prints the packages and their size, and needs no apt if all are installed.
. "${0%/*}/lib.sh"
mkdir "$T/bin"
cat >"$T/bin/apt-get" <<'APT'
#!/bin/bash
echo "$*" >>"$T/calls"
case " $* " in
*" --assume-no "*)
	echo "Need to get 12.3 MB of archives."
	echo "After this operation, 45.6 MB of additional disk space will be used."
	exit 1
	;;
esac
[[ ! -e $T/offline ]] || { echo "E: Failed to fetch" >&2; exit 100; }
held=$(cat "$T/held" 2>/dev/null || echo 0)
if ((held > 0)); then
	echo $((held - 1)) >"$T/held"
	echo "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7 (apt)" >&2
	exit 100
fi
APT
# shellcheck disable=SC2016 # the program expands it
printf '#!/bin/bash\ncat "$T/installed"\n' >"$T/bin/dpkg-query"
printf '#!/bin/bash\ntrue\n' >"$T/bin/apt-cache"
printf '#!/bin/bash\nexec "$@"\n' >"$T/bin/sudo"
chmod +x "$T/bin/"*
export T PATH=$T/bin:$PATH

deps() {
	: >"$T/calls"
	"$ROOT/tools/install-deps" doc >"$T/out" 2>&1
}

echo 'installed gcc, ' >"$T/installed"
echo 1 >"$T/held"
deps || fail "a lock that is held for a moment: $(cat "$T/out")"
grep -q '^install-deps: waiting for the program that has this lock$' "$T/out" || fail "$(cat "$T/out")"
grep -q '^install-deps: installing mandoc, 12.3 MB to fetch, 45.6 MB on the disk$' "$T/out" || fail "$(cat "$T/out")"
equal "installed" "$(grep -c -- '-q install -y .* mandoc$' "$T/calls")" 1

echo 100 >"$T/held"
status=0
INSTALL_DEPS_WAIT=0 deps || status=$?
equal "status of a lock for ever" "$status" 100
rm "$T/held"

# Other failures are not taken for a lock.
touch "$T/offline"
status=0
deps || status=$?
equal "status without a network" "$status" 100
! grep -q waiting "$T/out" || fail "$(cat "$T/out")"

echo 'installed mandoc, ' >"$T/installed"
deps || fail "all is there: $(cat "$T/out")"
equal "calls when all is there" "$(cat "$T/calls" "$T/out")" ""
