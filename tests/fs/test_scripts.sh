#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# "Does my DataLoader work?": each row of the table in joaderfs-readers(7) is tried as a script,
# with the layout of the row.
. "$(dirname "$0")/lib.sh"
needs_torch
dataset 3 20 48x36

# view NAME LAYOUT [OPTION...]: writes the ini of a job
view() {
	job "$1" tensor.crop=32 job.epochs=50 view.layout="$2" "${@:3}"
}
for name in shuffle sampler persistent drop-last sanity evaluation ddp cutmix labels split-classes; do
	view $name classes
done
for name in names persistent-flat drop-last-flat iterable; do view $name flat; done
view labels-fixed flat view.labels=fixed
for name in split mixup weighted labels-mirror list memory all; do
	view $name mirror view.extension=jpg
done
for name in sanity-val evaluation-val; do view $name classes job.order=sequential; done
view iterable-tar tar view.shard=9
view fold classes "job.where=hash(path) % 5 != 0"
view fold-val classes "job.where=hash(path) % 5 = 0" job.order=sequential
(cd "$D" && printf '%s\n' */* | sed -E 's/^class(.)(.*)/class\1\2,\1/') >"$T/list.csv"
start

# Rows of the table, and the case of scripts.py for each.
declare -A case_of=(
	["ImageFolder, shuffle=True"]=shuffle
	["files in the order of their names"]=names
	["a sampler of its own"]=sampler
	["persistent_workers"]=persistent
	["drop_last"]=drop_last
	["IterableDataset, WebDataset"]=iterable
	["Lightning's sanity pass"]=sanity
	["evaluation every n steps"]=evaluation
	["DDP, DistributedSampler"]=ddp
	["k-fold, a part for validation"]=folds
	["random_split, k-fold by index"]=split_by_index
	["Subset of less than seven eighths"]=split_by_index
	["mixup, CutMix in the batch"]=mixup_in_batch
	["mixup of each file with another one"]=mixup_of_files
	["WeightedRandomSampler, replacement"]=weighted
	["labels read once, before the images"]=labels_once
	["a list of file names"]=list_of_names
	["images, or open files, that are kept"]=in_memory
)
# Rows with a case of misuse.py, which test_misuse.sh runs.
declare -A misuse_of=(
	["shuffle=True, labels in files beside"]=shuffle_persistent
	["predictions matched to files"]=sequential
	["ranks that are out of step"]=ddp_classes
	["two scripts"]=two_scripts
	["file, grep, thumbnails beside it"]=looked_classes
	["epochs of one to three files"]=tiny_epochs
)
for case in "${misuse_of[@]}"; do
	sed -n '/^exact=(/,/)/p' "$FS/test_misuse.sh" | grep -qw "$case" || fail "$case is not tried"
done
rows=$(sed -n '/^\.Ss Does my DataLoader work/,/^\.El/s/^\.It \(.*\)/\1/p' \
	"$ROOT/man/joaderfs-readers.7.in" | grep -v '^Em')
equal "rows" "$(sort <<<"$rows")" "$(printf '%s\n' "${!case_of[@]}" "${!misuse_of[@]}" | sort)"

"$PYTHON" "$FS/scripts.py" "$M/jobs" "${case_of[@]}" split_of_positions >"$T/well" 2>"$T/wrong" || fail "$(<"$T/wrong")"
while IFS= read -r row; do
	[[ -n ${misuse_of[$row]-} ]] || grep -qx "${case_of[$row]}" "$T/well" || fail "$row: $(<"$T/wrong")"
done <<<"$rows"
grep -qx split_of_positions "$T/well" || fail "positions of classes, mapping = fixed: $(<"$T/wrong")"
! grep "job [^ ]*: epoch" "$LOG" | grep -v "job split-classes:" || fail "a false alarm"
