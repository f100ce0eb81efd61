#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The same images in a directory and from a web server, in tar shards by a pattern, by a list,
# in one tar, and as files by a manifest, give the same files, labels and orders. Shards are
# listed by ranges, and not again when nothing changed.
. "$(dirname "$0")/lib.sh"
. "$FS/sources.sh"
. "$(dirname "$0")/web.sh"
. "$FS/engine.sh"
dataset 3 8
mkdir "$D/class1/more" "$T/web"
mv "$D/class1/0003.jpg" "$D/class1/more/"
mv "$D/class2/0001.jpg" "$D/class2/a b+c%41#?&é.jpg"
"$ROOT/tools/demo-source" tar "$D" "$T/web/tars"
"$ROOT/tools/demo-source" cls "$D" "$T/web/cls"
cp -r "$D" "$T/web/files"
manifest >"$T/web/files/manifest.csv"
tar -C "$D" --sort=name -cf "$T/web/one.tar" class0 class1 class2
printf '# three\r\n\nshards-000002.tar\nshards-000000.tar\n' >"$T/web/tars/list.txt"
web_start "$T/web"
echo "$WEB/tars/shards-000001.tar?x=1" >>"$T/web/tars/list.txt"
sources_jobs

path_of() {
	case $1 in
	directory) echo "$D" ;;
	pattern) echo "$WEB/tars/shards-{000000..000002}.tar" ;;
	list) echo "$WEB/tars/list.txt" ;;
	one) echo "$WEB/one.tar" ;;
	manifest) echo "$WEB/files/manifest.csv" ;;
	esac
}

for kind in directory pattern list one manifest; do
	mount_source "$kind"
	copy "$kind"
	once a 24
	grep -qF "source $(path_of "$kind")" "$M/datasets/images/info"
	nothing_held
	stop
	no_warnings
	[[ $kind == directory ]] || diff -r "$T/out-directory" "$T/out-$kind"
done
diff -r "$D" "$T/out-manifest/files"

# --- requests for ranges only, by few connections, and never all of a shard for its headers
equal "requests that are not answered by a range" "$(requests '^(200|4|5)')" 0
connections=$(grep '/files/' "$T/nginx/access" | awk '{ print $NF }' | sort -u | wc -l)
((connections < $(requests '/files/') / 2)) || fail "$connections connections"

# --- a restart does not list again
: >"$T/nginx/access"
mount_source pattern
equal "requests of a restart" "$(requests)" 3
equal "samples" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 24
stop
: >"$T/nginx/access"
mount_source manifest
equal "requests for files at a restart" "$(requests '/class')" 0
stop

# --- labels: beside the images in a shard, and in a manifest
labels() {
	local file
	for file in "$(epoch a)"/*.cls; do cat "$file" && echo; done | sed /^$/d
}
D="$WEB/cls/shards-{000000..000002}.tar" config joaderfs.state="$T/state-cls"
start
read_epoch a
paste <(order a | cut -f3) <(labels) | awk '$1 != $2' >"$T/wrong"
[[ ! -s $T/wrong ]] || fail "labels of order and files: $(cat "$T/wrong")"
equal "classes of shards" "$(xargs <"$M/jobs/a/classes.txt")" "0 1 2"
stop
awk -F, 'NR > 1 { print (NR % 3 ? "odd" : "even") "," $1 ",more" } NR == 1 { print "label,path,x" }' \
	"$T/web/files/manifest.csv" >"$T/web/files/labels.csv"
D="$WEB/files/labels.csv" config joaderfs.state="$T/state-labels"
start
read_epoch a
equal "classes of a manifest" "$(xargs <"$M/jobs/a/classes.txt")" "even odd"
equal "its samples" "$(order a | cut -f3 | sort | uniq -c | xargs)" "8 0 16 1"
grep -q $'\todd/class0/0000.jpg$' <(order a) || fail "the path of a sample: $(order a)"
stop
no_warnings

# --- the server is away: the catalogue stays, and its samples can be read when the server is back
web_stop
D="$WEB/tars/shards-{000000..000002}.tar" config joaderfs.state="$T/state-pattern"
start
logged "can't be read: $WEB/tars/shards-000000.tar: .*, but the last scan found samples there"
web_start "$T/web"
job_text again tensor.crop=32 | ctl add -
read_epoch again
once again 24

# --- an engine that follows a killed one serves without asking the server
web_stop
: >"$T/nginx/access"
kill_engine
cat "$M/jobs/again/status" >/dev/null
web_start "$T/web"
kill_engine
equal "requests of an engine that follows" "$(requests '0-0')" 0
job_text after tensor.crop=24 | ctl add -
read_epoch after
once after 24
stop

# --- paths that are refused
refuse() {
	D=$1 config joaderfs.state="$T/state-refused"
	refused "${@:2}"
}
refuse "$WEB/none-{0..1}.tar" "$WEB/none-0.tar: " "the server answers 404"
refuse "$WEB/files/none.csv" "the server answers 404"
refuse "$WEB/files" "allowed URLs: tar files"
refuse "$WEB/x-{1..}.tar" "allowed: one range in the name"
refuse "http://user:secret@127.0.0.1/x.tar" "without a user"
! grep -q secret "$LOG" || fail "a password is shown: $(<"$LOG")"
refuse "ftp://127.0.0.1/x.tar" "a URL of http, https, s3, gs, az or hf"
cp "$D/class0/0000.jpg" "$T/web/bad.tar" 2>/dev/null || cp "$T/data/class0/0000.jpg" "$T/web/bad.tar"
refuse "$WEB/bad.tar" "at byte 0" "is not a tar file"
refuse_text() { # FILE TEXT MESSAGE...
	printf '%b' "$2" >"$T/web/$1"
	refuse "$WEB/$1" "${@:3}"
}
refuse_text dots.csv 'path\n../x.jpg\n' "dots.csv:2: found \"../x.jpg\", allowed: a path below"
refuse_text none.csv 'name\nx.jpg\n' "allowed: a first line that names the columns: path"
refuse_text size.csv 'path,bytes\na/x.jpg,-1\n' "size.csv:2: found \"-1\", allowed: a number of bytes"
refuse_text dots.txt '../x.tar\n' "dots.txt:1: found \"../x.tar\", allowed: the URL of a tar file"
refuse_text empty.txt '# none\n' "found no line"
