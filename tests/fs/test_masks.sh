#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# [tensor GLOB] in layout = mirror: files whose paths match are prepared by other rules, so that an
# image is resized bilinearly, and its mask keeps its indices.
. "$(dirname "$0")/lib.sh"
"$PYTHON" "$FS/masks.py" make "$D"

mirrored=(view.layout=mirror tensor.resize=40 tensor.format=bmp view.extension=jpg)
sections() { # "KEY = VALUE" lines behind [tensor masks/*]
	printf '[tensor masks/*]\n'
	printf '%s\n' "$@"
}
job a "${mirrored[@]}"
sections "filter = nearest" "channels = keep" >>"$T/jobs.d/a.ini"
printf '[tensor *eep/*]\nformat = source\n' >>"$T/jobs.d/a.ini"
start
"$PYTHON" "$FS/masks.py" mirror "$D" "$(epoch a)"
"$PYTHON" "$FS/masks.py" mirror "$D" "$M/jobs/a/current"
equal "decodes" "$(counter decodes)" 24
while read -r file; do
	equal "size of $file" "$(stat -c %s "$file")" "$(wc -c <"$file")"
done < <(find "$(epoch a)/" -type f)

# The job.ini of the job is again a job, which shares all prepared samples.
sed 's/^name = a$/name = b/; s/^path = .*//' "$M/jobs/a/job.ini" >"$T/b.ini"
ctl add "$T/b.ini" >/dev/null
"$PYTHON" "$FS/masks.py" mirror "$D" "$(epoch b)"
equal "decodes for two jobs" "$(counter decodes)" 24

refuses() { refuses_with sections "$@"; } # TEXT KEY=VALUE... -- LINE... of the section
keep=("${mirrored[@]}" -- "channels = keep")
refuses ':[tensor masks/*]: found "tensor masks/*", allowed: only with layout = mirror' -- "resize = 9"
refuses "not with random_crop, random_resized_crop or hflip" "${mirrored[@]}" augment.hflip=0.5 -- "resize = 9"
refuses "not with format = source in [tensor]" view.layout=mirror tensor.format=source -- "resize = 9"
refuses "masks/000.png, is indices of a palette" "${keep[@]}"
refuses "only with filter = nearest" "${keep[@]}"
refuses "RGB or gray of 8 bits, with format = ppm" "${keep[@]}" "filter = nearest" "format = ppm"
refuses 'masks/*]:resize: found "x"' "${mirrored[@]}" -- "resize = x"
refuses 'did you mean "filter"?' "${mirrored[@]}" -- "filtre = nearest"
refuses 'found "resize", allowed: not with format = source' "${mirrored[@]}" -- "format = source" "resize = 9"
stop
