#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl dataset rescan under jobs with layout = classes: classes and their files come and go, so
# that names stand for other positions. Each file is of its class, by epoch number and in current/,
# also for readers that have listed before. A script that reads current/ delays the change. Going
# back to an epoch before the rescan is refused.
. "$(dirname "$0")/lib.sh"
. "$FS/engine.sh"
dataset 3 8
classes=(view.layout=classes view.size=exact tensor.format=source job.epochs=9)
job by_number "${classes[@]}"
job new_script "${classes[@]}"
job script "${classes[@]}"
start --fault "dataset.install:NONE:until=$T/installs"

# line_of FILE: prints its directory and a checksum
line_of() {
	local class=${1%/*}
	echo "${class##*/} $(md5sum <"$1" | cut -d' ' -f1)"
}

# sums: notes these lines for the whole dataset
sums() {
	local file
	for file in "$D"/*/*.jpg; do line_of "$file"; done >"$T/sums"
}

of_its_class() {
	grep -qxF "$(line_of "$1")" "$T/sums"
}

# of_their_class JOB EPOCH: checks that each file is an image of the class of its directory
of_their_class() {
	local file
	for file in "$(epoch "$@")"/*/*; do
		of_its_class "$file" || fail "$file is of another class"
	done
}

sums
of_their_class by_number 0000
once by_number 24
cat "$M/jobs/by_number/state" >"$T/state_of_0"
cat "$M"/jobs/new_script/epoch-0000/class2/0000000[0-2].* >/dev/null
for job in by_number new_script; do # so that the kernel knows their names
	ls -lR "$M/jobs/$job/epoch-0001" "$M/jobs/$job/current" >"$T/names"
done
exec {held}<"$M/jobs/new_script/current/class2"

# script JOB [FIRST]: a script reads current/, or only its first files; prints the number of files
# and of different images
script() {
	"$PYTHON" - "$M/jobs/$1/current" "$T/sums" "${2-}" <<-'END'
		import hashlib, os, sys
		top, sums, first = sys.argv[1:]
		with open(sums, encoding="utf-8") as file:
		    sums = set(file.read().splitlines())
		names = sorted(f"{c}/{x}" for c in os.listdir(top) for x in os.listdir(f"{top}/{c}"))
		given = set()
		names = names[:int(first)] if first else names
		for name in names:
		    with open(f"{top}/{name}", "rb") as file:
		        digest = hashlib.md5(file.read()).hexdigest()
		    assert f"{name.split('/')[0]} {digest}" in sums, f"{name} is of another class"
		    given.add(digest)
		print(len(names), len(given))
	END
}

# --- a script reads
equal "files and images of a script" "$(script script 3)" "3 3"
"$PYTHON" "$FS/make_dataset.py" "$T/more" 2 5 64x48
mv "$T/more/class0" "$D/class0b"
mv "$T/more/class1/0000.jpg" "$D/class2/0008.jpg"
rm "$D"/class1/000[13].jpg
! ctl dataset rescan images >"$T/said" 2>&1 || fail "scanned under a script that reads"
grep -q "job script has layout = classes, and a script reads its current/" "$T/said" ||
	fail "$(<"$T/said")"
ctl rm script >/dev/null

# --- the job moves, also if the daemon's work of each second has removed the refused catalogue
# before
(sleep 1.5 && touch "$T/installs") &
ctl dataset rescan images >"$T/said" 2>&1 || fail "$(<"$T/said")"
# A directory that was opened before has other names: opens in it fail, and give no image of
# another class.
"$PYTHON" - "$held" <<-'END'
	import errno, os, sys
	try:
	    os.open("00000000.jpg", os.O_RDONLY, dir_fd=int(sys.argv[1]))
	    sys.exit("a name of before is found")
	except OSError as error:
	    assert error.errno == errno.ESTALE, error
END
exec {held}<&-

# The begun epoch stays unchanged, except for removed files.
equal "files of the begun epoch" "$(find "$(epoch new_script)" -type f | wc -l)" 24
lost=0
for file in "$(epoch new_script)"/class[02]/*; do
	of_its_class "$file" || lost=$((lost + 1))
done
equal "files of another class" "$lost" 0
equal "classes of the begun epoch" "$(names "$(epoch new_script)" | xargs)" "class0 class1 class2"

# The next epoch has all present files.
sums
N=28
equal "classes of the next epoch" "$(names "$(epoch by_number 0001)" | xargs)" \
	"class0 class0b class1 class2"
of_their_class by_number 0001
once by_number $N 0001
equal "files and images of a new script" "$(script new_script)" "$N $N"
once new_script $N 0001
kill_engine
equal "files and images of its second pass" "$(script new_script)" "$N $N"
once new_script $N 0002

# --- going back beyond the rescan
! ctl restore by_number "$T/state_of_0" >"$T/said" 2>&1 || fail "it went back"
grep -q "older than a rescan of the dataset" "$T/said" || fail "$(<"$T/said")"
ctl restore --at 1:0 by_number - <"$M/jobs/by_number/state" >"$T/said"
of_their_class by_number 0001
nothing_held
stop
