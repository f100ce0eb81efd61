#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Containers with false contents, and containers that can't be read in the middle, are refused: the
# message names the file, the place and the problem.
. "$(dirname "$0")/lib.sh"
dataset 2 3
"$PYTHON" "$FS/hostile.py" "$D" "$T/bad"
job a
# refuse FILE TEXT...: checks that the daemon refuses the container, and prints its name and each TEXT
refuse() {
	local file=$1
	shift
	D=$T/bad/$file config joaderfs.state="$T/state-$file"
	refused "$file" "$@"
}
[[ $("$PROGRAM" --version) ]]
D=$T/bad/good.tar config
start && stop
D=$T/bad/good.zip config joaderfs.state="$T/state-zip"
start && stop

refuse gzip.tar "at byte 0" "compressed (gzip)" "gunzip"
refuse shards.tar.gz "compressed (gzip)"
refuse zstd.tar "compressed (zstd)" "unzstd"
refuse text.tar "at byte 0" "is not a tar file"
refuse checksum.tar "a wrong checksum" "at byte "
refuse cut-member.tar "truncated" "ends beyond the end" "class1/"
refuse cut-header.tar "truncated" "512 bytes are expected"
refuse empty.tar "truncated"
refuse dots.tar "leads out of it: ../"
refuse inner-dots.tar "leads out of it: class0/../../x.jpg"
refuse absolute.tar "begins with /: /etc/x.jpg"
refuse huge.tar "ends beyond the end" "9223372036854775807"
refuse beyond.tar "the size of a member is impossible"
refuse negative.tar "the size of a member is impossible"
refuse pax-size.tar "size is invalid" "18446744073709551616"
refuse pax-length.tar "a damaged extended (pax) header"
refuse pax-dots.tar "leads out of it: ../x.jpg"
refuse sparse.tar "a sparse file"
refuse long-name.tar "an extended header of"

D=$T/bad/windows.zip config joaderfs.state="$T/state-windows"
start
equal "classes of a zip with backslashes" \
	"$(xargs <"$M/datasets/images/classes.txt")" "class0 class1"
stop
refuse backslash.zip 'has a backslash, allowed: / between directories: data/cat\1.jpg'
refuse unix.zip 'has a backslash, allowed: / between directories: cat\1.jpg'
refuse text.zip "is not a zip file"
refuse cut.zip "is not a zip file, or is truncated"
refuse encrypted.zip "a member is encrypted: class0/"
refuse method.zip "compressed by method 12, allowed: 0 (stored), 8 (deflated)"
refuse dots.zip "leads out of it: ../x.jpg"
refuse far.zip "not the header of a member"
refuse beyond.zip "truncated"
refuse directory.zip "the directory does not lie in the file"
refuse many.zip "it should have 60000 members, but its directory has 6"
refuse few.zip "it should have 2 members, but its directory has 6"
refuse short.zip "bytes lie between the directory and its end"
refuse other.zip "the header of another member than the directory says: class0/"
refuse large.zip "can't be stored in"
refuse bomb.zip "can't be stored in"

refuse text.lmdb "is not an LMDB file"
if [[ -e $T/bad/root.lmdb ]]; then
	refuse root.lmdb "page 1099511627776 is referred to, but there are only"
	refuse cut.lmdb "is referred to, but there are only"
	refuse circle.lmdb "is not of the expected kind"
	refuse key.lmdb "a key does not lie in it"
	refuse depth.lmdb "a tree of 1000 levels is impossible"
	refuse keys.lmdb "it should have 3 keys, but has 506"
	refuse duplicates.lmdb "keys with several values are not supported"
fi
refuse missing.tar "missing.tar: does not exist; expected tar files"
D="$T/bad/x-{0..}.tar" config
refused "allowed: one range in the name of the file, as shard-{000000..000146}.tar"
D="$T/bad/good.tar" config images.label=json:a-b
refused "label: found \"json:a-b\", allowed: auto, directory, cls, none, json:FIELD"
D="$T/data" config images.label=cls joaderfs.state="$T/state-label"
refused "allowed: label = auto, directory or none"
