#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Tools that look at all files change nothing, in any layout: no position is bound, no image
# decoded. An open binds only its own position. The sizes that tools get are those of reads.
. "$(dirname "$0")/lib.sh"
dataset 3 8
job flat tensor.crop=32
job shards tensor.crop=32 view.shard=5 view.json=yes
job padded view.layout=classes
job exact view.layout=classes view.size=exact
job classes tensor.crop=32 view.layout=classes view.path=x/train
job mirror view.layout=mirror
job tar tensor.crop=32 view.layout=tar view.shard=5
job batch tensor.crop=32 view.layout=batch view.batch=5
start
jobs=(flat shards padded exact classes mirror tar batch)

ls -lR "$M" >/dev/null
ls -lRL "$M/data" >/dev/null
find "$M" -type f -size +1k -newer "$T" >/dev/null
find -L "$M" -printf '%s %T@ %l\n' >/dev/null
du -a "$M" >/dev/null
find "$M" -exec stat {} + >/dev/null
"$PYTHON" -c 'import glob, os, sys
for path in glob.glob(sys.argv[1] + "/**", recursive=True):
    os.stat(path), os.path.getsize(path), os.access(path, os.R_OK)' "$M/jobs"
for name in "${jobs[@]}"; do
	equal "bindings of $name" "$(order "$name")" ""
	equal "drawn ahead for $name" "$(status_of "$name" drawn_ahead)" 0
done
equal "decodes" "$(counter decodes)" 0
[[ -f $(epoch flat)/00000005.ppm && ! -e $(epoch flat)/00000024.ppm ]]
head -c 1 "$(epoch flat)/00000005.ppm" >/dev/null
equal "positions bound" "$(order flat | cut -f1)" 5
equal "size of an image" "$(stat -c %s "$(epoch flat)/00000003.ppm")" $((13 + 32 * 32 * 3))

for name in "${jobs[@]}"; do
	while read -r size file; do
		[[ $name != exact ]] || continue
		equal "bytes of $file" "$(wc -c < <(cat "$file"))" "$size"
		equal "size of $file after it was read" "$(stat -c %s "$file")" "$size"
	done < <(find "$(epoch "$name")" -type f -printf '%s %p\n')
done
[[ $(counter decodes) -gt 0 ]] || fail "nothing was decoded by reading"
