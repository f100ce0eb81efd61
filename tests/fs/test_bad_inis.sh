#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Common mistakes in inis: each gives one message of one line, which names the place, the value that
# was found, and the allowed values or a remedy. The daemon mounts nothing, and adds no job.
. "$(dirname "$0")/lib.sh"
dataset 2 4
mkdir "$T/cases" "$T/empty" "$T/flat" "$T/videos" "$T/videos/a"
cp "$D"/class0/* "$T/flat"
touch "$T/videos/a/x.mp4" "$T/text"
head -c 1000 /dev/zero >"$T/none.zip"
printf '\x89PNG\r\n\x1a\n\0\0' >"$T/cases/image.ini"
n=0

# one_line NAME EXPECTED: checks that $LOG has one line about NAME, with the text
one_line() {
	local lines
	lines=$(grep -v 'belongs to the value: \|joaderfs: cache = auto: \|joaderfs: dataset images: 8 samples' "$LOG" | grep -F -- "$1" || true)
	equal "messages, each a line, of $1" "$(grep -c . <<<"$lines") $lines" "1 $lines"
	grep -qF -- "$2" <<<"$lines" || fail "'$2' is not in: $lines"
	n=$((n + 1))
}

# --- inis of the daemon -----------------------------------------------------------------

# daemon EXPECTED LINE...: starts the daemon with the lines after those of base
base=("[joaderfs]" "state = $T/state" "socket = $T/socket")
daemon() {
	local expected=$1
	shift
	printf '%s\n' "${base[@]}" "$@" >"$T/joaderfs.ini"
	timeout 20 "$PROGRAM" --no-supervisor -f "$T/joaderfs.ini" "$M" >"$LOG" 2>&1 &&
		fail "it started, without '$expected'"
	! mounted "$M" || fail "it failed, and left a mount"
	one_line joaderfs: "$expected"
}
images=("[dataset images]" "path = $D")
ini=$T/joaderfs.ini
daemon "$ini:4:[joaderfs]:cache: found \"4 GB\", allowed: auto, or bytes, or a number with K, M, G or T" \
	"cache = 4 GB" "${images[@]}"
daemon "$ini:4:[joaderfs]:eviction: found \"refcount\", allowed: refcnt, lru, fifo, random; did you mean \"refcnt\"?" \
	"eviction = refcount" "${images[@]}"
daemon "$ini:4:[joaderfs]:cahce: found \"cahce\", allowed: cache," "cahce = 1G" "${images[@]}"
daemon "$ini:4:[joaderfs]:workers: found \"0\", allowed: auto, or 1..1024" "workers = 0" "${images[@]}"
daemon "$ini:4:[joaderfs]:sampler: found \"random\", allowed: dsa, isa, exchange" \
	"sampler = random" "${images[@]}"
daemon "$ini:4:[datset images]: found \"datset images\", allowed: [joaderfs], [cluster], [dataset NAME], [template NAME], [preparation NAME]; did you mean \"dataset\"?" \
	"[datset images]" "path = $D"
daemon "$ini:4:[dataset]: found \"dataset\", allowed: [dataset NAME], NAME: 1 to 64 of" "[dataset]" "path = $D"
daemon "$ini:4:[dataset my images]: found \"dataset my images\", allowed: [dataset NAME]" \
	"[dataset my images]" "path = $D"
daemon "$ini: found no [dataset NAME], allowed: at least one"
daemon "$ini:[dataset images]:path: found nothing, allowed: an absolute path" "[dataset images]"
daemon "$ini:5:[dataset images]:path: found \"\"$D\"\", allowed: an absolute path, or one relative to the directory of this ini, without quotes" \
	"[dataset images]" "path = \"$D\""
daemon "$ini:5:[dataset images]:path: found \"~/images\", allowed: an absolute path, or one relative to the directory of this ini, without quotes and without ~" \
	"[dataset images]" "path = ~/images"
daemon "$ini:6:[dataset images]:tier: found \"/nvme\", allowed: DIRECTORY, SIZE" "${images[@]}" "tier = /nvme"
daemon "$ini:6:[dataset images]:extensions: found \".jpg,.png\", allowed: endings without dots" \
	"${images[@]}" "extensions = .jpg,.png"
daemon "dataset images: path $T/nowhere: does not exist; expected a directory per class with images in it" \
	"[dataset images]" "path = $T/nowhere"
daemon "dataset images: path $T/flat/: has no class directories (4 files lie directly in it); expected a directory per class" \
	"[dataset images]" "path = flat"
daemon "dataset images: path $T/videos/: no file with an ending of \"jpg" "[dataset images]" "path = videos"
daemon "dataset images: path $T/text: is not a directory; expected" "[dataset images]" "path = text"
daemon "dataset images: $T/none.zip: at byte 1000: is not a zip file" "[dataset images]" "path = none.zip"
daemon "$ini:[joaderfs]:jobs: $T/nowhere: No such file or directory" "jobs = nowhere" "${images[@]}"
daemon "[cluster]:engine: the scheme is unknown; allowed: redis[s]://" \
	"${images[@]}" "[cluster]" "engine = localhost:6379"
daemon "[cluster]:listen: found \"0.0.0.0:7000\": without a secret or certificate only loopback addresses are allowed" \
	"${images[@]}" "[cluster]" "listen = 0.0.0.0:7000"
daemon "[cluster]:secret: $T/nowhere: No such file or directory" \
	"${images[@]}" "[cluster]" "listen = 127.0.0.1:7000" "secret = nowhere"
base=("[joaderfs]" "state = text")
daemon "$ini:[joaderfs]:state: $T/text: found a link or a file, allowed: a directory" "${images[@]}"
base=("[joaderfs]" "state = $T/state" "socket = /nowhere/socket")
daemon "/nowhere/socket: can't make the control socket: No such file or directory; socket = in [joaderfs] names another place" \
	"${images[@]}"
base=()
daemon "$ini:1:cache: found \"cache\", allowed: keys after a [section]" "cache = 4G" "seed = 1"
daemon "$ini:1:[job]: found \"job\", allowed: [joaderfs], [cluster], [dataset NAME], [template NAME], [preparation NAME]; this is the ini of a job: joaderctl add" \
	"[job]" "name = a" "dataset = images"
rm "$ini"
daemon_of_nothing() {
	! "$PROGRAM" --no-supervisor -f "$ini" "$M" >"$LOG" 2>&1 || fail "it started without an ini"
	one_line joaderfs: "$ini: can't be read: No such file or directory"
}
daemon_of_nothing

# --- inis of jobs -----------------------------------------------------------------------

config
start
cd "$T/cases" || exit
expected=()
# job_text EXPECTED LINE...: writes the ini of a job
job_text() {
	expected+=("$1")
	shift
	printf '%s\n' "$@" >"$(printf %02d.ini ${#expected[@]})"
}
# job EXPECTED LINE...: writes the ini of a job with the lines after name and dataset
job() {
	local text=$1
	shift
	job_text "$text" "[job]" "name = job${#expected[@]}" "dataset = images" "$@"
}
job_text ':[job]:name: found nothing, allowed: 1 to 64 of A-Z' "[job]" "dataset = images"
job_text ':2:[job]:name: found "my job", allowed: 1 to 64 of' "[job]" "name = my job" "dataset = images"
job_text ':1:name: found "name", allowed: keys after a [section]' "name = a" "dataset = images"
job_text ':1:[joaderfs]: found "joaderfs", allowed: [job], [tensor], [augment], [view]; this is the ini of the daemon: joaderfs' \
	"[joaderfs]" "cache = 4G" "${images[@]}"
job ':5:[tensor]:crop: found "224,224", allowed: N or WxH' "[tensor]" "crop = 224,224"
job ':5:[tensor]:crop: found "-1", allowed: N or WxH' "[tensor]" "crop = -1"
job ':5:[tensor]:crop: found "32 # centre", allowed: N or WxH' "[tensor]" "crop = 32 # centre"
job ':5:[tensor]:resize: found "256px", allowed: N, max:N or WxH' "[tensor]" "resize = 256px"
job ':5:[tensor]:format: found "jpg", allowed: ppm, bmp, png, npy, raw, source, record' "[tensor]" "format = jpg"
job ':6:[tensor]:dtype: found "float", allowed: uint8, float32, float16; did you mean "float32"?' \
	"[tensor]" "format = npy" "dtype = float"
job ':6:[tensor]:axes: found "NCHW", allowed: HWC, CHW; did you mean "CHW"?' "[tensor]" "format = npy" "axes = NCHW"
job ':5:[view]:layout: found "imagefolder", allowed: flat, classes, mirror, tar, batch' "[view]" "layout = imagefolder"
job ':5:[view]:lookahed: found "lookahed", allowed: layout,' "[view]" "lookahed = 5"
job ':5:[view]:layout: found "batch", allowed: only with crop,' "[view]" "layout = batch"
job ':6:[view]:shard: found "shard", allowed: only with layout = flat or tar' "[view]" "layout = classes" "shard = 9"
job ':5:[view]:extension: found ".jpg", allowed: 1 to 16 letters and digits' "[view]" "extension = .jpg"
job ':5:[view]:path: found "/mnt/train", allowed: names separated by /' "[view]" "path = /mnt/train"
job ':4:[job]:epochs: found "0", allowed: 1..16383' "epochs = 0"
job ':5:[job]:epochs: found "epochs" again, allowed: once; it is in line 4' "epochs = 3" "epochs = 4"
job ':4:[job]:order: found "suffled", allowed: shuffled, sequential, replay:FILE with an absolute path; did you mean "shuffled"?' \
	"order = suffled"
job ':4:[job]:weight: found "0", allowed: a number from 0.01 to 100' "weight = 0"
job ':4:[job]:idle: found "10 minutes", allowed: seconds, or a number with s, m or h' "idle = 10 minutes"
job ':4:[job]:crop: found "crop", allowed: name, dataset' "crop = 224"
job ':4:[tensors]: found "tensors", allowed: [job], [tensor], [augment], [view]; did you mean "tensor"?' "[tensors]"
job ':4:[job]: found "crop 224", allowed: [SECTION], KEY = VALUE, or a comment' "crop 224"
job ':5:[augment]:hflip: found "yes", allowed: a number from 0 to 1' "[augment]" "hflip = yes"
job ':5:[augment]:normalize: found "imagenet", allowed: three means / three standard deviations' \
	"[augment]" "normalize = imagenet"
ctl add [0-9]*.ini >"$LOG" 2>&1 && fail "they were added"
for ((i = 1; i <= ${#expected[@]}; i++)); do
	name=$(printf %02d.ini $i)
	one_line "$name" "$name${expected[i - 1]}"
done
rm [0-9]*.ini

# Jobs that are compared with the dataset, one after the other.
alone() { # EXPECTED ARGUMENT...
	local text=$1
	shift
	printf '[job]\nname = a\ndataset = images\n' >a.ini
	ctl add "$@" >"$LOG" 2>&1 && fail "it was added: $*"
	one_line '' "$text"
}
alone 'a.ini:[job]:dataset: found "image", allowed: a [dataset NAME] of the daemon'"'"'s ini, or one that joaderctl dataset add has added; did you mean "images"?' \
	--set job.dataset=image a.ini
alone 'a.ini:[job]:where: predicate "lable < 3": no such column: lable; columns: id, path, class, label' \
	--set "job.where=lable < 3" a.ini
alone '"class = "cat"": no such column: cat (a text is written in single quotes: '"'text'" --set 'job.where=class = "cat"' a.ini
alone '[job]:where: found "label < 0", which selects none of the 8 samples of dataset images; allowed: a predicate that selects at least one' \
	--set "job.where=label < 0" a.ini
alone '[job]:order: found "replay:/nowhere/orders", which can'"'"'t be read: No such file' \
	--set job.order=replay:/nowhere/orders --set job.epochs=1 a.ini
alone 'nowhere.ini: No such file or directory' nowhere.ini
alone 'image.ini: not a text file: it has a NUL byte' image.ini
equal "jobs" "$(names "$M/jobs")" ""

# --- a bad image: the log has the same form when a reader gets EIO -----------------------
echo "no image" >"$D/class0/0001.jpg"
ctl add a.ini >/dev/null
: >"$LOG"
errors=0
for file in "$(epoch a)"/*.ppm; do
	cat "$file" >/dev/null 2>&1 || errors=$((errors + 1))
done
equal "images that can't be read" $errors 1
one_line class0/0001.jpg "dataset images: $D/class0/0001.jpg: "
one_line class0/0001.jpg "readers get EIO; where = path != 'class0/0001.jpg' in [job] leaves it out"
((n >= 40)) || fail "only $n mistakes"
