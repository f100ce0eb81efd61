#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# where selects by the columns of the catalogue, also those of metadata.csv.
. "$(dirname "$0")/lib.sh"
dataset 3 8
{
	echo file_name,quality
	for c in 0 1 2; do for i in 0 1 2 3; do echo "class$c/000$i.jpg,$((c + i))"; done; done
} >"$D/metadata.csv"
job wide "job.where=width > height"
job class "job.where=class = 'class1' and label = 1"
job good "job.where=quality >= 4"
job unrated "job.where=quality is null"
start

for name in wide class good unrated; do read_epoch $name; done
once wide 18
once class 8
once good 3
once unrated 12
equal "good" "$(order good | cut -f5 | grep -o 'class.*' | sort | xargs)" \
	"class1/0003.jpg class2/0002.jpg class2/0003.jpg"
