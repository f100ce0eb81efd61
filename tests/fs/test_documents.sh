#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The inis of jobs in docs and in the man pages are accepted by the daemon and have files; the
# Python in docs is valid, and the commands use existing options.
. "$(dirname "$0")/lib.sh"
dataset 2 3
start
"$PYTHON" - "$ROOT" "$T" <<'PYTHON'
import glob, re, sys, textwrap
root, to = sys.argv[1:]
inis = programs = 0
for path in sorted(glob.glob(f"{root}/docs/*.md") + glob.glob(f"{root}/man/*.7.in")):
    text = open(path, encoding="utf-8").read()
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.M)
    if path.endswith(".in"):
        blocks = re.findall(r"^\.Bd -literal.*?\n(.*?)^\.Ed", text, re.M | re.S)
    for block in map(textwrap.dedent, blocks):
        for ini in re.findall(r"^\[job\]\n(?:(?!\$ |END).+\n)+", block, re.M):
            inis += 1
            ini = re.sub(r"^name = .*", f"name = document-{inis}", ini, flags=re.M)
            ini = re.sub(r"^dataset = photos", "dataset = images", ini, flags=re.M)
            ini = re.sub(r"^global_batch = .*", "global_batch = 4", ini, flags=re.M)
            ini = re.sub(r"^training = .*", f"training = t{inis}", ini, flags=re.M)
            open(f"{to}/document-{inis}.ini", "w", encoding="utf-8").write(ini)
        if path.endswith(".md") and re.search(r"^(import|class|data =) ?", block, re.M):
            compile(block, path, "exec")
            programs += 1
assert inis >= 8 and programs >= 4, (inis, programs)
PYTHON
export RANK=0 NODE_RANK=0 WORLD_SIZE=2 # as a launcher of ranks sets them
for ini in "$T"/document-*.ini; do
	name=$(basename "$ini" .ini)
	ctl add "$ini" >/dev/null || fail "$(cat "$ini")"
	[[ -n $(find "$M/jobs/$name/current/" -type f | head -n 1) ]] || fail "no files: $(cat "$ini")"
done
# Each deployment in the table of joaderfs-cluster(7) has a test.
deployments=$(grep -c '^\.It ' <(sed -n '/^\.Sh DEPLOYMENTS/,/^\.Sh SEE/p' "$ROOT/man/joaderfs-cluster.7.in"))
mapfile -t behind < <(sed -n 's/^\.\\" test: //p' "$ROOT/man/joaderfs-cluster.7.in")
equal "deployments that name a test" "${#behind[@]}" "$deployments"
for name in "${behind[@]}"; do
	[[ -e $FS/test_$name.sh ]] || fail "joaderfs-cluster(7) names test_$name.sh"
done
sed -n 's/^    joaderctl \(--[a-z]* [^ ]* \)*\([a-z]*\).*/\2/p' "$ROOT"/docs/*.md | sort -u >"$T/commands"
[[ -s $T/commands ]] || fail "no commands"
while read -r command; do
	"$BUILD/joaderctl" "$command" --help >/dev/null || fail "joaderctl $command"
done <"$T/commands"
