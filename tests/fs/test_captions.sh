#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# With label = none, images without classes are samples of one class: images of a directory, also
# directly in it, and of shards, a zip or an LMDB file with captions.
. "$(dirname "$0")/lib.sh"
"$PYTHON" "$FS/captions.py" "$T"
kinds="plain shards all.zip"
[[ ! -e $T/all.lmdb ]] || kinds+=" all.lmdb"
job a job.epochs=2
job m view.layout=mirror tensor.format=source
job c view.layout=classes

D=$T/plain config joaderfs.state="$T/state-auto"
start
equal "samples with label = auto" "$(ctl datasets images | grep ^samples)" "samples 4"
grep -qF "8 images lie beside the class directories, in $T/plain, so they are no samples; a sample is <class>/<file>, or any image with label = none" "$LOG"
stop
D=$T/all.zip config
refused "has no class directories" "without classes: label = none"
D=$T/all.zip config images.label=json:caption joaderfs.state="$T/state-field"
refused "labels can't be names of classes: a name has 1 to 200 bytes, no / and no . at the beginning (label = none makes one class of all samples)"
mkdir -p "$T/none/more"
D=$T/none config images.label=none joaderfs.state="$T/state-none"
refused "path $T/none/: no file with an ending of \"jpg jpeg"

for kind in $kinds; do
	: >"$LOG"
	D=$T/$kind config images.label=none joaderfs.state="$T/state-$kind"
	for epoch in 0000 0001; do # the start before the second epoch finds everything unchanged
		start
		equal "classes of $kind" "$(xargs <"$M/jobs/a/classes.txt")" all
		read_epoch a $epoch
		once a 12 $epoch
		equal "labels of $kind" "$(order a $epoch | cut -f3 | sort -u)" 0
		equal "class directories" "$(names "$(epoch c)")" all
		order a $epoch | cut -f5 | LC_ALL=C sort >"$T/paths"
		(cd "$(epoch m)" && find . -type f -printf '%P\n' | LC_ALL=C sort) | diff - "$T/paths"
		while read -r path; do
			find "$T/plain" -name "${path##*/}" -exec cmp "$(epoch m)/$path" {} \;
		done <"$T/paths"
		stop
	done
	! grep 'warning:' "$LOG" || fail "warnings about $kind"
	equal "the shape of its paths" "$(sed 's/[0-9]\{5\}\.jpg$/X/' "$T/paths" | LC_ALL=C sort -u | xargs)" \
		"$(case $kind in plain) echo X more/X ;; shards) echo part-0/X part-1/X ;; *) echo X ;; esac)"
done

# Columns of metadata.csv are also possible for images without a class.
: >"$LOG"
rm "$T/jobs.d/m.ini"
printf 'file_name,score\n00001.jpg,5\nmore/00000.jpg,7\n' >"$T/plain/metadata.csv"
job j view.json=yes job.order=sequential "job.where=score > 0"
D=$T/plain config images.label=none joaderfs.state="$T/state-columns"
start
equal "rows" "$(cat "$(epoch j)"/*.json | tr -s ' \n' ' ')" \
	'{"label": 0, "class": "all", "path": "00001.jpg", "score": 5} {"label": 0, "class": "all", "path": "more/00000.jpg", "score": 7} '
stop
rm "$T/jobs.d/j.ini"

# One container changes, and another one comes.
: >"$LOG"
mv "$T/shards/part-1.tar" "$T/later.tar"
D=$T/shards config images.label=none joaderfs.state="$T/state-later"
start
equal "samples of one shard" "$(ctl datasets images | grep ^samples)" "samples 6"
mv "$T/later.tar" "$T/shards/part-1.tar"
ctl dataset rescan images
equal "samples of two shards" "$(ctl datasets images | grep ^samples)" "samples 12"
stop

# A label with many different texts is refused as a class.
: >"$LOG"
"$PYTHON" - "$T/shards/part-0.tar" <<-'END'
	import io, sys, tarfile
	with tarfile.open(sys.argv[1]) as tar:
	    image = tar.extractfile("00000.jpg").read()
	with tarfile.open(sys.argv[1], "w") as tar:
	    for i in range(1100):
	        for ending, data in ("jpg", image), ("json", b'{"caption": "no %dth"}' % i):
	            info = tarfile.TarInfo(f"{i}.{ending}")
	            info.size = len(data)
	            tar.addfile(info, io.BytesIO(data))
END
D=$T/shards/part-0.tar config images.label=json:caption joaderfs.state="$T/state-texts"
start
grep -qF "dataset images: its labels have 1,100 values in 1,100 samples, too many for classes; label = none makes one class of all samples" "$LOG"
