#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A job of several datasets: each epoch has them in proportion to their weights, and each dataset
# goes through its own passes, over the ends of epochs and a crash of the daemon. The job shares
# tensors with jobs that read one of the datasets.
. "$(dirname "$0")/lib.sh"
alone
dataset 3 12
"$PYTHON" "$FS/make_dataset.py" "$T/sketches" 4 5 80x64
mv "$T/sketches/class0" "$T/sketches/other"
cat >"$T/table" <<-END
	# labels for classes of both datasets
	images/class0 2
	images/class1 0
	images/class2 4
	sketches/class1 0
	sketches/class2  2
	sketches/class3	0
	sketches/other 7
	more/class9 3
END
both() { # JOB [section.key=value...]
	local name=$1
	shift
	job "$name" "job.dataset=images:3 sketches" tensor.crop=32 job.epochs=9 "$@"
}
both m view.json=yes
job p job.dataset=images tensor.crop=32
job s job.dataset=sketches tensor.crop=32
both t view.layout=tar view.shard=10
both b view.layout=batch view.batch=10
both x "job.label_table=$T/table" 'job.where=hash(path) % 4 != 0'
config joaderfs.seed=0
printf '[dataset sketches]\npath = %s\n' "$T/sketches" >>"$T/joaderfs.ini"
start
equal "jobs of m's datasets" "$(status_of m dataset)" images:3,sketches
equal "classes" "$(cat "$M/jobs/m/classes.txt")" $'class0\nclass1\nclass2\nclass3\nother'
equal "samples of an epoch" "$(status_of m samples)" 48
equal "what an epoch has" "$(status_of m part | tr '\n' ,)" "images 36 of 36,sketches 12 of 20,"

# paths JOB EPOCH DATASET: prints the dataset's files in the epoch, sorted
paths() {
	order "$1" "$2" | cut -f5 | grep "^$3/" | LC_ALL=C sort
}

# check_epoch JOB EPOCH IMAGES SKETCHES: checks the number of samples of both datasets
check_epoch() {
	once "$1" $(($3 + $4)) "$2"
	equal "images of $1, epoch $2" "$(paths "$1" "$2" images | wc -l)" "$3"
	equal "sketches of $1, epoch $2" "$(paths "$1" "$2" sketches | wc -l)" "$4"
}

# check_passes JOB DATASET ALL EPOCH...: checks after each epoch that no sample came two times more
# often than another
check_passes() {
	local job=$1 dataset=$2 all=$3 epoch least most
	shift 3
	: >"$T/had"
	for epoch; do
		paths "$job" "$epoch" "$dataset" >>"$T/had"
		read -r least most < <(LC_ALL=C sort "$T/had" | uniq -c | awk -v all="$all" '
			{ if (!n++ || $1 < least) least = $1; if ($1 > most) most = $1 }
			END { print (n < all ? 0 : least), most }')
		((most - least <= 1)) || fail "$job, $dataset, to epoch $epoch: $least and $most times"
	done
}

# --- epochs, their labels and contents
read_epoch p
read_epoch s
for n in 0000 0001 0002; do
	read_epoch m "$n"
	check_epoch m "$n" 36 12
done
check_passes m sketches 20 0000 0001 0002
check_passes m images 36 0000 0001 0002
! cmp -s <(paths m 0000 sketches) <(paths m 0001 sketches) || fail "two epochs have the same sketches"
! cmp -s <(order m 0000 | cut -f5 | grep ^images) <(order m 0001 | cut -f5 | grep ^images) ||
	fail "two epochs have the same order"

# contents JOB EPOCH [PREFIX]: prints "PATH MD5 LABEL" of each file of an epoch, with PREFIX before
# paths
contents() { # JOB EPOCH [PREFIX]
	local position label path
	order "$1" "$2" | while IFS=$'\t' read -r position _ label _ path; do
		position=$(epoch "$1" "$2")/$(printf %08d "$position")
		equal "label of $position" "$(cat "$position.cls")" "$label"
		echo "${3-}$path $(md5sum <"$position.ppm" | cut -d' ' -f1) ${path%/*}"
	done | LC_ALL=C sort
}
contents p 0000 images/ >"$T/contents"
contents s 0000 sketches/ >>"$T/contents"
contents m 0001 >"$T/mixed"
equal "files of the mixture" "$(wc -l <"$T/mixed")" 48
while read -r path sum _; do
	grep -qF "$path $sum " "$T/contents" || fail "$path of the mixture is not the file of the job of one"
done <"$T/mixed"
order m 0001 | while IFS=$'\t' read -r position _ label _ path; do
	class=${path#*/}
	equal "class of $path" "$(sed -n "$((label + 1))p" "$M/jobs/m/classes.txt")" "${class%/*}"
	grep -qF "{\"label\": $label, \"class\": \"${class%/*}\", \"path\": \"$path\"}" \
		"$(epoch m 0001)/$(printf %08d "$position").json" || fail "json of $path"
done
equal "prepared" "$(counter decodes)" 56 # each once, for all jobs

# --- other layouts
cat "$(epoch t)"/*.tar >/dev/null
check_epoch t 0000 36 12
equal "labels in tars" "$(for f in "$(epoch t)"/*.tar; do tar -xOf "$f" --wildcards '*.cls'; done | sort | uniq -c)" \
	"$(order t | cut -f3 | sort | uniq -c)"
cat "$(epoch b)"/batch-??????.npy >/dev/null
check_epoch b 0000 36 12
cmp <(paths t 0000 sketches) <(paths m 0000 sketches) # all jobs of a mixture have the same parts
equal "prepared" "$(counter decodes)" 56

# --- labels by a table, for a part of the samples
equal "classes of x" "$(cat "$M/jobs/x/classes.txt")" $'class1\n1\nclass0\nclass9\nclass2\n5\n6\nother'
read -r images sketches < <(status_of x part | awk '{ printf "%s ", $2 } END { print "" }')
read_epoch x
check_epoch x 0000 "$images" "$sketches"
order x | while IFS=$'\t' read -r _ _ label _ path; do
	equal "label of $path" "$(awk -v c="${path%/*}" '$1 == c { print $2 }' "$T/table")" "$label"
done

# --- the job continues at its position
positions() { # EPOCH FIRST LAST: what they hold
	local i
	for ((i = $2; i <= $3; i++)); do
		md5sum <"$(epoch m "$1")/$(printf %08d "$i").ppm"
	done
}
positions 0003 0 19 >"$T/first"
cp "$M/jobs/m/state" "$T/checkpoint"
kill -KILL "$PID"
wait "$PID" || true
unmount "$M"
start
positions 0003 0 19 | cmp - "$T/first"
read_epoch m 0003
check_epoch m 0003 36 12
check_passes m sketches 20 0000 0001 0002 0003
read_epoch m 0004
paths m 0004 sketches >"$T/fourth"
order m 0003 | sort -n | cut -f1,2,5 >"$T/third"
ctl restore m "$T/checkpoint"
positions 0003 0 19 | cmp - "$T/first"
read_epoch m 0003
order m 0003 | sort -n | cut -f1,2,5 | cmp - "$T/third"
read_epoch m 0004
paths m 0004 sketches | cmp - "$T/fourth"
check_passes m sketches 20 0000 0001 0002 0003 0004
exec 4<"$M/jobs/m/current/00000000.ppm"
exec 4<&-
read_rest "$M/jobs/m/current" 48
check_epoch m 0005 36 12
check_passes m sketches 20 0000 0001 0002 0003 0004 0005

# --- combinations that are refused
said() { # TEXT COMMAND...
	local text=$1
	shift
	! "$@" >"$T/said" 2>&1 || fail "$* ended with 0"
	grep -qF -- "$text" "$T/said" || fail "$* does not say '$text': $(cat "$T/said")"
}
wrong() { # TEXT section.key=value...
	local text=$1
	shift
	both w "$@"
	mv "$T/jobs.d/w.ini" "$T/w.ini"
	said "$text" ctl add "$T/w.ini"
}
of() { # TEXT DATASET
	printf '[job]\nname = w\ndataset = %s\n' "$2" >"$T/w.ini"
	said "$1" ctl add "$T/w.ini"
}
wrong '[view]:layout: found "classes", allowed: flat, tar or batch' view.layout=classes
wrong '[view]:layout: found "mirror", allowed: flat, tar or batch' view.layout=mirror
wrong '[view]:labels: found "fixed", allowed: drawn' view.labels=fixed
wrong '[job]:order: found "sequential", allowed: shuffled' job.order=sequential
wrong '[job]:bad_sample: found "skip", allowed: fail' job.bad_sample=skip
wrong '[job]:ranks: found "ranks", allowed: only where dataset names one dataset' job.ranks=2
wrong "which selects none of the 20 samples of dataset sketches" "job.where=class = 'class0'"
wrong 'of dataset images: predicate "colour = 1"' job.where='colour = 1'
wrong 'found "table", allowed: an absolute path' job.label_table=table
wrong "$T/none: No such file" "job.label_table=$T/none"
wrong "$T: " "job.label_table=$T"
grep -v class3 "$T/table" >"$T/less"
wrong "$T/less: has no label for sketches/class3, allowed: a line for each class" "job.label_table=$T/less"
echo 'images/class1 1' | cat "$T/table" - >"$T/more"
wrong "$T/more: found \"images/class1\" in line 10, allowed: DATASET/CLASS LABEL" "job.label_table=$T/more"
echo 'images/class1 one' >"$T/more"
wrong "found \"images/class1 one\" in line 1, allowed: DATASET/CLASS LABEL" "job.label_table=$T/more"
of 'found "images:0 sketches", allowed: 1 to 64 of' 'images:0 sketches'
of 'found "images:x sketches", allowed: 1 to 64 of' 'images:x sketches'
of 'found "images images:2", allowed: 1 to 64 of' 'images images:2'
of 'found "skeches", allowed: a [dataset NAME]' 'images skeches'
of 'did you mean "sketches"?' 'images skeches'
said "sketches: not removed: used by" ctl dataset rm sketches
rm "$T/sketches/other/0000.jpg"
said "is a mixture, whose samples never change" ctl dataset rescan sketches
said "job m is a mixture" ctl export m
[[ $(ctl top --once --json) == *'"dataset": "images:3,sketches"'* ]] || fail "top: $(ctl top --once --json)"
ctl ls | grep -qE '^m +images:3,sketches +' || fail "ls: $(ctl ls)"
equal "jobs of sketches" "$(sed -n 's/^jobs //p' "$M/datasets/sketches/info")" 5

ctl rm m >/dev/null
for j in p s t b x; do ctl rm $j >/dev/null; done

nothing_held
[[ $(ctl dataset rescan sketches) == *"19 samples"* ]] || fail "it can't be scanned when its jobs are gone"
