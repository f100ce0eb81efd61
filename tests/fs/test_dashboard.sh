#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# dashboard.html is made at most once a second, for any number of readers. A browser draws it
# without a network and without messages in its console. Its figures equal those of stats.json and
# of the jobs' status. It shows names that could break scripts, and a job that was removed.
. "$(dirname "$0")/lib.sh"

BROWSER=$(command -v chromium-headless-shell || command -v chromium) ||
	skip "no chromium on this system"

# page FILE: prints the page as a browser shows it; writes the browser's console to $T/console
page() {
	timeout 120 "$BROWSER" --headless --no-sandbox --disable-gpu --user-data-dir="$T/browser" \
		--enable-logging=stderr --host-resolver-rules='MAP * ~NOTFOUND' \
		--virtual-time-budget=3000 --dump-dom "file://$1" 2>"$T/browser.log" ||
		fail "the browser ended with $?: $(tail -n 20 "$T/browser.log")"
	grep CONSOLE "$T/browser.log" >"$T/console" || true
}

# messages in the browser's console are noticed
echo '<!DOCTYPE html><title>x</title><p><b>a</p><script>b.c = 1</script>' >"$T/wrong.html"
page "$T/wrong.html" >"$T/wrong.dom"
grep -q 'b is not defined' "$T/console" || fail "an error of a script is not seen: $(cat "$T/browser.log")"

dataset 3 8
LONG=constructor-$(printf 'x%.0s' {1..52})
job a tensor.crop=32
job __proto__ tensor.crop=32
job "$LONG" tensor.crop=32
job toString tensor.crop=32
job leaves tensor.crop=32
start
read_epoch a
read_epoch __proto__
cat "$(epoch "$LONG")/00000000.ppm" >/dev/null
read_epoch leaves
ctl rm leaves >/dev/null
for name in a __proto__; do
	equal "served of $name" "$(status_of "$name" served)" 24
done

# readers who ask at the same time share a page, which is made once a second
"$PYTHON" - "$M/dashboard.html" <<'PYTHON'
import re, sys, threading, time
made = set()
def read():
    for _ in range(25):
        made.add(re.search(r'"made":([0-9.]+)', open(sys.argv[1]).read())[1])
begin = time.monotonic()
threads = [threading.Thread(target=read) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
most = time.monotonic() - begin + 2
assert len(made) <= most, f"100 reads: {len(made)} pages were made, not {most:.1f} or fewer"
PYTHON

size=$(stat -c %s "$M/dashboard.html")
equal "bytes of the page" "$(wc -c <"$M/dashboard.html")" "$size"
page "$M/dashboard.html" >"$T/dom"
equal "what the browser's console says" "$(cat "$T/console")" ""
"$PYTHON" "$FS/page.py" "$M" "$T/dom" --gone leaves -- a __proto__ "$LONG" toString

if command -v tidy >/dev/null; then
	! tidy -e -q "$T/wrong.html" >/dev/null 2>&1 || fail "tidy finds nothing"
	cp "$M/dashboard.html" "$T/page.html" # tidy has a copy of a file whose time changes
	tidy -e -q "$T/page.html" >"$T/tidy" 2>&1 || fail "tidy: $(cat "$T/tidy")"
	equal "what tidy says" "$(cat "$T/tidy")" ""
fi
