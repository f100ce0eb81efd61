#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# json = yes: a file beside each sample has the dataset's facts about it; all these files have one
# size. Such a file binds its position like a label, and consumes nothing.
. "$(dirname "$0")/lib.sh"
dataset 2 4
printf 'file_name,caption,score\nclass0/0001.jpg,"a ""rose"", pink",0.5\n' >"$D/metadata.csv"
job a tensor.crop=32 view.json=yes
job without tensor.crop=32
start

equal "files" "$(find "$(epoch a)" -type f | wc -l)" 24
[[ ! -e $(epoch without)/00000000.json ]] || fail "a .json that nobody asked for"
size=$(stat -c %s "$(epoch a)/00000000.json")
equal "bindings" "$(order a)" ""
for json in "$(epoch a)"/*.json; do
	equal "size of $json" "$(stat -c %s "$json")" "$size"
	equal "bytes of $json" "$(wc -c <"$json")" "$size"
	equal "begin of $json" "$(head -c 9 "$json")" '{"label":'
	"$PYTHON" -c 'import json, sys; j = json.load(open(sys.argv[1]))
print(j["label"], j["class"], j["path"], j["caption"], j["score"], *set(j) -
      {"label", "class", "path", "caption", "score"}, sep="\t")' "$json"
done >"$T/found"
once a 8
equal "consumed" "$(status_of a consumed)" 0
order a | while IFS=$'\t' read -r _ _ label _ path; do
	rest=$'None\tNone'
	[[ $path != class0/0001.jpg ]] || rest=$'a "rose", pink\t0.5'
	printf '%s\tclass%s\t%s\t%s\n' "$label" "$label" "$path" "$rest"
done >"$T/expected"
diff "$T/found" "$T/expected" || fail "not what is known"
