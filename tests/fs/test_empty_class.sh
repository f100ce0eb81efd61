#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A directory without images gives a warning and is no class, in a tree and in a zip; the same holds
# for directories that macOS and Windows leave behind.
. "$(dirname "$0")/lib.sh"
dataset 3 4
mkdir -p "$D/class1b" "$D/__MACOSX/class0"
cp "$D/class0/0000.jpg" "$D/__MACOSX/class0/1.jpg"
echo >"$D/class0/.DS_Store"
echo >"$D/class0/Thumbs.db"
echo >"$D/class0/desktop.ini"
(cd "$D" && "$PYTHON" -m zipfile -c "$T/images.zip" ./*)
job a tensor.crop=32
start
grep -q class1b "$LOG" || fail "no warning names class1b"
equal "classes" "$(xargs <"$M/datasets/images/classes.txt")" "class0 class1 class2"
read_epoch a
once a 12
equal "labels" "$(order a | cut -f3 | sort -u | xargs)" "0 1 2"
stop

for extensions in "jpg" "*"; do
	D=$T/images.zip config joaderfs.state="$T/state-zip" images.extensions="$extensions"
	start
	equal "classes of $extensions" "$(xargs <"$M/datasets/images/classes.txt")" "class0 class1 class2"
	equal "samples of $extensions" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 12
	stop
done
