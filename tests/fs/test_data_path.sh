#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# data/PATH leads to current/ of the job with that path, also as jobs come and go. A path that is in
# use, or that leads through one in use, is refused.
. "$(dirname "$0")/lib.sh"
dataset 2 4
job train tensor.crop=32 view.path=resnet18/train
job val tensor.crop=16 view.path=resnet18/val job.order=sequential
job deep tensor.crop=32 view.path=a/b/c/d
start

tree() {
	(cd "$M/data" && find . | sort | xargs)
}
equal "tree" "$(tree)" ". ./a ./a/b ./a/b/c ./a/b/c/d ./resnet18 ./resnet18/train ./resnet18/val"
equal "link" "$(readlink "$M/data/resnet18/train")" "../../jobs/train/current"
equal "link" "$(readlink "$M/data/a/b/c/d")" "../../../../jobs/deep/current"
equal "size of a link" "$(stat -c %s "$M/data/a/b/c/d")" "$(printf '../../../../jobs/deep/current' | wc -c)"
equal "links" "$(stat -c %h "$M/data" "$M/data/a" "$M/data/resnet18" | xargs)" "4 3 2"
for path in resnet18/train/00000000 resnet18/tests resnet18/train2 b resnet1 a/b/c/d/e/f; do
	[[ ! -e $M/data/$path ]] || fail "there is a $path"
done
equal "samples" "$(names "$M/data/resnet18/val" | xargs)" "$(names "$M/jobs/val/current" | xargs)"

# add NAME PATH: adds a job with the path
add() {
	job_text "$1" tensor.crop=32 view.path="$2" >"$T/$1.ini"
	ctl add "$T/$1.ini"
}
for path in resnet18 resnet18/train resnet18/train/x a; do
	add other $path >"$T/out" 2>&1 && fail "added at $path"
	grep -qF "$path" "$T/out" || fail "no word about $path: $(cat "$T/out")"
done
for path in /x x/ x//y ../x x/./y .; do
	add other $path >"$T/out" 2>&1 && fail "added at $path"
done
equal "tree after refusals" "$(tree)" ". ./a ./a/b ./a/b/c ./a/b/c/d ./resnet18 ./resnet18/train ./resnet18/val"

add third resnet18/third
equal "added" "$(names "$M/data/resnet18" | xargs)" "third train val"
equal "the added one's link" "$(readlink "$M/data/resnet18/third")" "../../jobs/third/current"
ctl rm deep
[[ ! -e $M/data/a/b/c/d && ! -L $M/data/a/b/c/d && ! -e $M/data/a ]] || fail "its path is still there"
equal "removed" "$(names "$M/data" | xargs)" "resnet18"
add fourth a
equal "a link where a directory was" "$(readlink "$M/data/a")" "../jobs/fourth/current"
equal "before another" "$(names "$M/data" | xargs)" "a resnet18"
add fifth top
equal "after it" "$(names "$M/data" | xargs)" "a resnet18 top"
for name in fifth fourth third train val; do ctl rm $name; done
equal "all removed" "$(tree)" "."
