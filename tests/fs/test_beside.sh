#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Files beside an image (from a directory, shards, a zip and an LMDB file) appear byte for byte as
# files of layout = flat and members of layout = tar, whatever their sizes. Columns of metadata
# become captions, and vectors of numbers in records and batches.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
"$PYTHON" "$FS/beside.py" make "$T"
kinds="plain shards all.zip"
[[ ! -e $T/all.lmdb ]] || kinds+=" all.lmdb"
job f view.beside="json TXT"
job s view.beside=txt view.shard=4 job.order=sequential
job t view.layout=tar view.shard=5 view.beside="txt json" tensor.crop=16
for kind in $kinds; do
	: >"$LOG"
	D=$T/$kind config images.label=none joaderfs.state="$T/state-$kind"
	start
	"$PYTHON" "$FS/beside.py" flat "$M/jobs/f" "$T" json txt
	"$PYTHON" "$FS/beside.py" tar "$M/jobs/t" "$T" json txt
	for shard in "$(epoch t)"/*.tar; do
		equal "members of $shard" "$(tar -tf "$shard" | sed 's/.*\.//' | sort -u | xargs)" "cls json ppm txt"
	done
	equal "files" "$(names "$(epoch f)" | sed 's/.*\.//' | sort | uniq -c | xargs)" "14 cls 14 json 14 ppm 14 txt"
	equal "files of a shard" "$(names "$(epoch s)/001" | xargs)" \
		"$(echo 0000000{4,5,6,7}.{cls,ppm,txt})"
	[[ ! -e $(epoch s)/001/00000004.json && ! -e $(epoch f)/00000000.TXT ]] || fail "unasked"
	equal "consumed by texts" "$(status_of f consumed)" 0
	grep -qF "warning: job t: 2 of 14 samples have no .txt, so their files are empty; the first: " "$LOG"
	equal "warnings" "$(grep -c 'warning:' "$LOG")" 3
	stop
done

# Captions come from a column, without a newline at the end.
D=$T/plain config images.label=none joaderfs.state="$T/state-text"
rm "$T"/jobs.d/{f,s,t}.ini
job c view.text=caption view.beside=json
job d view.text=caption view.layout=tar
job r tensor.format=record tensor.crop=16 "view.labels=columns: z x"
job r1 tensor.format=record tensor.crop=16 "view.labels=columns: y"
job b view.layout=batch view.batch=4 tensor.crop=16 "view.labels=columns: x y z"
job few view.beside=txt "job.where=path like '%00007%'" job.order=sequential job.epochs=2
job fewer view.beside=txt view.layout=tar "job.where=path like '%00002%'"
: >"$LOG"
start
"$PYTHON" "$FS/beside.py" flat "$M/jobs/c" "$T" json caption
"$PYTHON" "$FS/beside.py" tar "$M/jobs/d" "$T" caption
"$PYTHON" "$FS/beside.py" labels "$M/jobs/r" "$T" z x
"$PYTHON" "$FS/beside.py" labels "$M/jobs/r1" "$T" y
"$PYTHON" "$FS/beside.py" labels "$M/jobs/b" "$T" x y z
grep -qF "job c: 2 of 14 samples have no text in column caption, so their files are empty; the first: more/00009.jpg" "$LOG"

# The next engine continues with open files. A changed file answers EIO until the next scan.
exec 5<"$(epoch few)/00000000.txt"
head -c 1000 <&5 >/dev/null
kill_engine
cat <&5 | tail -c 5000 | cmp - <(tail -c 5000 "$T/plain/00007.txt")
exec 5<&-
echo "another text" >"$T/plain/00007.txt"
! cat "$(epoch few)/00000000.txt" >/dev/null 2>&1 || fail "changed, and read"
grep -qF "job few: $T/plain/00007.txt: changed since the scan" "$LOG"
cat "$(epoch few)/00000000.ppm" >/dev/null
ctl dataset rescan images
equal "a changed text" "$(cat "$(epoch few 0001)/00000000.txt")" "another text"
stop

# Impossible settings are refused with a message.
told() {
	printf '[job]\nname = x\ndataset = images\n%s\n' "$1" | ctl add - >"$T/told" 2>&1 || true
	grep -qF -- "$2" "$T/told" || fail "for \"$1\" found: $(cat "$T/told"), not: $2"
}
head -c 1048577 /dev/zero >"$T/plain/00002.txt"
truncate -s 67108865 "$T/plain/00004.json"
rm "$T/jobs.d"/*.ini
job none
start
ctl dataset rescan images >/dev/null 2>&1
told $'[view]\nbeside = npz' ":[view]:beside: found .npz, but no selected sample of dataset images has it, allowed: one that some samples have"
told $'where = path like "%00000%"\n[view]\nbeside = txt' "where: predicate"
told $'where = path like \'%00000%\'\n[view]\nbeside = txt' ":[view]:beside: found .txt, but no selected sample"
told $'[view]\nlayout = tar\nbeside = txt' "[view]:beside: found .txt of 1048577 bytes for sample 1, 00002.jpg, allowed: at most 1048576 with layout = tar, where each file takes the space of the largest (where in [job] can leave out samples)"
told $'[view]\nbeside = json' "found .json of 67108865 bytes"
told $'[view]\ntext = colour' "[view]:text: found column colour, which dataset images does not have, allowed: path, class, caption, x, y, z"
told $'[view]\nbeside = txt cls' "beside: found \"txt cls\", allowed: 1 to 8 endings"
told $'[view]\nbeside = txt\ntext = caption' "beside: found \"txt\", allowed: endings other than txt, which text takes"
told $'[view]\nbeside = json\njson = yes' "beside: found \"json\", allowed: endings other than json, since json = yes"
told $'[view]\nbeside = txt\nextension = txt' "beside: found \"txt\", allowed: endings other than the extension of the samples' files"
told $'[view]\nbeside = txt\nlayout = classes' "beside: found \"beside\", allowed: only with layout = flat or tar"
told $'[tensor]\nformat = record\n[view]\nlabels = columns: x colour' "[view]:labels: found column colour, which dataset images does not have, allowed: path, class, caption, x, y, z"
told $'[tensor]\nformat = record\n[view]\nlabels = columns: width' "found column width, which"
told $'[tensor]\nformat = record\n[view]\nlabels = columns: caption' "[view]:labels: found \"a \"rose\", 0"
told $'[tensor]\nformat = record\n[view]\nlabels = columns:' "labels: found \"columns:\", allowed: drawn, fixed, or columns: and 1 to 64 names of columns"
told $'[view]\nlabels = columns: x' "labels: found \"columns: x\", allowed: columns only with layout = batch or format = record"
told $'[view]\nbeside = txt' "warning: job x: 2 of 14 samples have no .txt"
equal "a large text in flat" "$(printf '[job]\nname = y\ndataset = images\nwhere = path = '\''00002.jpg'\''\n[view]\nbeside = txt\n' | ctl add - >/dev/null && wc -c <"$(epoch y)/00000000.txt")" 1048577
