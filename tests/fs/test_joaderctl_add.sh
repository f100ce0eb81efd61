#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl add and rm: adding a job twice is no error; settings override the ini; several inis are
# added all or not at all; rm takes patterns, and says when a job will come back at the next start.
# Each command has a help text.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job fromdir tensor.crop=32
start

ini=$T/one.ini
job_text one tensor.crop=32 view.layout=classes view.path=%name/train >"$ini"
said() { # TEXT COMMAND... : it succeeds, and says the text
	local text=$1
	shift
	ctl "$@" >"$T/out" 2>&1 || fail "$*: $(cat "$T/out")"
	grep -qF -- "$text" "$T/out" || fail "$* did not say '$text': $(cat "$T/out")"
}
refuses() { # TEXT COMMAND... : it fails, and says the text
	local text=$1
	shift
	ctl "$@" >"$T/out" 2>&1 && fail "$* succeeded: $(cat "$T/out")"
	grep -qF -- "$text" "$T/out" || fail "$* did not say '$text': $(cat "$T/out")"
}
jobs_are() {
	equal "jobs" "$(names "$M/jobs" | xargs)" "$*"
}

# --- the same job twice ---
said "added one" add "$ini"
said "one is there already" add "$ini"
sed 's/^crop/# a comment, and spaces\ncrop   /' "$ini" | said "one is there already" add -
said "fromdir is there already" add "$T/jobs.d/fromdir.ini"
sed 's/32/16/' "$ini" >"$T/other.ini"
refuses 'a running job without "crop = 16x16"' add "$T/other.ini"
equal "crop" "$(grep ^crop "$M/jobs/one/job.ini")" "crop = 32x32"
refuses "found \"one\", which is also the name in $ini" add "$ini" "$T/other.ini"

# --- settings ---
said "added two" add --name two "$ini"
equal "data" "$(names "$M/data" | xargs)" "one two"
said "added three" add --name=three --set tensor.crop=8 --set 'job.where=label < 2' \
	--set augment.hflip=0.5 --set view.path=third "$ini"
equal "settings" "$(grep -E '^(crop|where|hflip|path|layout)' "$M/jobs/three/job.ini" | xargs)" \
	"where = label < 2 crop = 8x8 hflip = 0.5 layout = classes path = third"
refuses '--set:[tensor]:crop: found "-1", allowed: N' add --name x --set tensor.crop=-1 "$ini"
refuses 'did you mean "layout"?' add --name x --set view.layuot=flat "$ini"
refuses 'did you mean "tensor"?' add --name x --set tensro.crop=3 "$ini"
for setting in crop=3 tensor.crop view. .crop=3 'tensor.=3' 'tensor.[x]=3' "job.where=1"$'\n'"idle=1m"; do
	refuses "SECTION.KEY=VALUE" add --name x --set "$setting" "$ini"
done
jobs_are fromdir one three two

# --- all or none ---
for name in a b c; do job_text $name tensor.crop=32 view.path=$name >"$T/$name.ini"; done
sed 's/32/huge/' "$T/c.ini" >"$T/bad.ini"
refuses "none of these jobs" add "$T/a.ini" "$T/b.ini" "$T/bad.ini"
sed 's/images/imagse/' "$T/c.ini" >"$T/bad.ini"
refuses "imagse" add "$T/a.ini" "$T/b.ini" "$T/bad.ini"
sed 's/^path=.*/path=a/' "$T/c.ini" >"$T/bad.ini"
refuses 'job a has "a"' add "$T/a.ini" "$T/b.ini" "$T/bad.ini"
refuses "no-such.ini" add "$T/a.ini" "$T/no-such.ini"
mkdir -p "$T/state/jobs/b/job.ini" # where the ini of b would be kept
refuses "job b: its ini can't be saved" add "$T/a.ini" "$T/b.ini"
[[ ! -e $T/state/jobs/a/job.ini ]] || fail "a would be there after a restart"
rmdir "$T/state/jobs/b/job.ini"
jobs_are fromdir one three two
equal "data" "$(names "$M/data" | xargs)" "one third two"
said "added c" add "$T/a.ini" "$T/b.ini" "$T/c.ini"
jobs_are a b c fromdir one three two
said "a is there already" add "$T/a.ini" "$T/b.ini"

# A job that could not be added is gone after a restart. Samples that an earlier job of the name
# has read stay read.
read_epoch a
stop
rm "$T/state/jobs/a/job.ini"
start
jobs_are b c fromdir one three two
sed -i 's/^name = .*/name = d/' "$T/bad.ini"
refuses 'job a has "a"' add "$T/a.ini" "$T/bad.ini"
jobs_are b c fromdir one three two
said "added a" add "$T/a.ini"
once a 24

# --- rm ---
said "removed two" rm 't*' c
jobs_are a b fromdir one
refuses "no job matches x*" rm 'x*'
refuses "did you mean one?" rm onne
said "jobs.d/fromdir.ini still exists, so the daemon adds job fromdir again at its next start" rm fromdir
said "removed one" rm '*'
jobs_are ""

# --- help ---
for command in add rm mount ls status order stats datasets; do
	said "usage: joaderctl [-s SOCKET] $command" $command --help
	said "usage: joaderctl [-s SOCKET] $command" $command -h
done
said "--set SECTION.KEY=VALUE" add --help
