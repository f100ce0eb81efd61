#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Other users can't reach the state directory: a directory that others own or may write to is
# refused, its lock can't be taken, links in it are not followed, and rm removes all that the daemon
# has made.
. "$(dirname "$0")/lib.sh"
((EUID == 0)) || skip "runs as root, to become another user"
S=$T/state
other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod 755 "$T"
dataset 2 4
job a tensor.crop=32 job.epochs=9
mode() { stat -c %a "$1"; }

chmod 777 "$S"
refused "$S: found mode 0777, which lets others write there, allowed: at most 0755"
chmod 775 "$S"
refused "$S: found mode 0775"
chmod 755 "$S"
chown 65534 "$S"
refused "$S: found a directory of user 65534, allowed: a directory of user 0"
equal "files" "$(ls "$S")" ""
chown 0 "$S"
mkdir "$T/elsewhere"
ln -s "$T/elsewhere" "$S/jobs"
refused "$S/jobs: found a link or a file, allowed: a directory"
rm "$S/jobs"
mkdir -m 777 "$S/jobs"
refused "$S/jobs: found mode 0777"
rm -r "$S"

# A new directory; and the lock of an old one, which others could read.
start
stop
equal "modes" "$(mode "$S") $(mode "$S/lock") $(mode "$S/jobs") $(mode "$S/datasets") $(mode "$S/jobs/a")" \
	"700 600 700 700 700"
chmod 755 "$S"
chmod 644 "$S/lock"
start
equal "modes" "$(mode "$S") $(mode "$S/lock")" "755 600"
! "${other[@]}" flock -n "$S/lock" true 2>/dev/null || fail "another user took the lock"
for name in b c d; do job_text $name tensor.crop=32 job.epochs=9 | ctl add -; done
cat "$(epoch b)"/* >/dev/null
cat "$(epoch b 0001)"/* >/dev/null
for _ in $(seq 100); do
	[[ ! -e $S/jobs/b/epoch-0000.order ]] || break
	sleep 0.1
done

# Links replace a job's directory, and the journals that were set aside.
theirs() { touch "$1"/{job.ini,id,notes,journal-0000,epoch-0000.order}; }
theirs "$T/elsewhere"
cp -r "$T/elsewhere" "$T/copy"
mv "$S/jobs/c" "$T/c"
ln -s "$T/elsewhere" "$S/jobs/c"
ctl rm c
mkdir "$T/before"
theirs "$T/before"
ln -s "$T/before" "$S/jobs/d/before"
touch "$S/jobs/d/"{notes,epoch-notes,journal-1}
mkdir "$S/jobs/d/journal-0007"
ctl rm d
ctl rm b
equal "files of the link's directory" "$(ls "$T/elsewhere")" "$(ls "$T/copy")"
equal "files of the other link's directory" "$(ls "$T/before")" "$(ls "$T/copy")"
equal "files that are not the daemon's" "$(names "$S/jobs/d" | xargs)" \
	"before epoch-notes journal-0007 journal-1 notes"
[[ ! -e $S/jobs/b ]] || fail "rm left $(ls "$S/jobs/b")"
grep -q "$S/jobs/d: is not removed, because it has other files" "$LOG" || fail "nothing says so"
stop

# The links exist at a start.
cp "$T/c/job.ini" "$T/elsewhere"
cp -r "$T/elsewhere/." "$T/copy"
start
equal "jobs" "$(names "$M/jobs" | xargs)" "a"
grep -q "$S/jobs/c: found a link" "$LOG" || fail "nothing is said of the link"
stop
diff -r "$T/elsewhere" "$T/copy"
ln -sf "$T/lock" "$S/lock"
refused "$S/lock"
[[ ! -e $T/lock ]] || fail "a link was followed"
