#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# others = show: layout = mirror has the files that are no samples, byte for byte, so that trainers
# of detectors find the boxes of prepared images; also after kill -9 of the engine, and with rules
# that name them. Such a file that changes answers EIO until the next start.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
"$PYTHON" "$FS/detection.py" make "$D"
job a tensor.resize=max:64 tensor.format=bmp view.layout=mirror view.extension=jpg
job few view.layout=mirror "job.where=path like 'images/train/000001%'"
config images.label=none
start
[[ ! -e $(epoch a)/labels && -e $(epoch a)/images/train/000000.jpg ]] || fail "shown unasked"
stop
config images.label=none images.others=show
start
"$PYTHON" "$FS/detection.py" read "$D" "$(epoch a)" 64
"$PYTHON" "$FS/detection.py" read "$D" "$M/jobs/a/current" 64

others() {
	(cd "$1" && find . -type f ! -name '*.jpg' ! -name '*.ppm' ! -name '.hidden' | sort)
}
equal "other files" "$(others "$(epoch a)")" "$(others "$D")"
equal "other files of a job with where" "$(others "$(epoch few)")" "$(others "$D")"
while read -r file; do
	cmp "$D/$file" "$(epoch a)/$file"
	equal "size of $file" "$(stat -c %s "$(epoch a)/$file")" "$(stat -c %s "$D/$file")"
done < <(others "$D")
for missing in .hidden labels/train/000003.txt labels/train/000000.txt.ppm; do
	[[ ! -e $(epoch a)/$missing ]] || fail "$missing is there"
done
equal "links" "$(stat -c %h "$(epoch few)/labels" "$(epoch few)/images" | xargs)" "3 3"
(! echo x >>"$(epoch a)/labels/train/000000.txt") 2>/dev/null || fail "it can be written"

# The next engine continues with open files.
exec 5<"$(epoch a)/annotations/instances.json"
head -c 10 <&5 >/dev/null
kill_engine
cat <&5 | tail -c 3000000 | cmp - <(tail -c 3000000 "$D/annotations/instances.json")
exec 5<&-

echo "0 1 1 1 1" >>"$D/labels/train/000007.txt"
! cat "$(epoch few)/labels/train/000007.txt" >/dev/null 2>&1 || fail "changed, and read"
grep -qF "job few: $D/labels/train/000007.txt: it has changed since the dataset was scanned" "$LOG"
stop
rm "$D/labels/train/000000.txt"
ln -s /etc/hostname "$D/labels/outside.txt"
ln -s train/000001.txt "$D/labels/inside.txt"
start
cmp "$D/labels/train/000007.txt" "$(epoch few)/labels/train/000007.txt"
cmp "$D/labels/train/000001.txt" "$(epoch few)/labels/inside.txt"
[[ ! -e $(epoch a)/labels/train/000000.txt ]] || fail "gone, and shown"
[[ ! -e $(epoch a)/labels/outside.txt ]] || fail "a link that leaves the tree is shown"
grep -q "symbolic links that leave the tree were skipped" "$LOG"
stop

# The extension replaces the ending, unless two files would then have one name. Every file of a
# directory exists, under a name that leads to it.
mkdir "$D/images/ends"
"$PYTHON" - "$D/images/ends" <<-'END'
	import sys
	from PIL import Image
	names = "a.png a.txt b.png b.jpg c.d.png c.png e.png e.png.webp f.jpg f.PNG f.tiff.png g.jpeg g-.png"
	for i, name in enumerate(names.split()):
	    path = f"{sys.argv[1]}/{name}"
	    if name.endswith("txt"):
	        open(path, "w").close()
	    else:
	        Image.new("RGB", (4 + i, 4)).save(path)
END
start
ends=$(epoch a)/images/ends
equal "names with the ending" "$(names "$ends" | xargs)" \
	"a.jpg a.txt b.jpg.jpg b.png.jpg c.d.jpg c.jpg e.jpg e.png.webp.jpg f.PNG.jpg f.jpg.jpg f.tiff.jpg g-.jpg g.jpg"
for file in "$ends"/*.jpg; do
	[[ -s $file ]] || fail "$file"
	head -c 2 "$file" | grep -q BM || fail "$file is no bitmap"
done
equal "images, each with a height of its own" "$(for file in "$ends"/*.jpg; do od -An -j 22 -N 4 -t d4 "$file"; done | xargs -n 1 | sort -u | wc -l)" 12
for missing in a.png b.jpg e.png.jpg c.d.png.jpg; do
	[[ ! -e $ends/$missing ]] || fail "$missing is there"
done
stop

# Samples get their names before other files. Names may have all bytes.
name=$'odd \n\xff name'
echo odd >"$D/labels/$name"
start
cmp "$D/labels/$name" "$(epoch a)/labels/$name"
stop
printf 'hidden by the sample' >"$D/images/train/000001.x"
sed -i 's/^\[view\]/[view]\nextension = x/' "$T/jobs.d/few.ini"
start
equal "the sample's" "$(head -c 2 "$(epoch few)/images/train/000001.x")" P6
equal "names" "$(names "$(epoch few)/images/train" | uniq -d)" ""

stop
D=$T/none.tar
(cd "$T/data" && tar -cf "$D" images)
config images.others=show joaderfs.state="$T/state-tar"
refused "found others = show, but path $T/none.tar is not a directory; allowed: others = hide"
