#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Shards that change or disappear while the daemon runs: only their samples answer EIO. The next
# start finds new shards, keeps shards that are away, and lists no sample twice.
. "$(dirname "$0")/lib.sh"
dataset 3 8
"$ROOT/tools/demo-source" tar "$D" "$T/shards"
shard() {
	echo "$T/shards/shards-00000$1.tar"
}
job a tensor.crop=32 job.epochs=9
D=$T/shards
config images.scan=before
start
cp "$(shard 0)" "$T/first"
touch -d 2001-01-01 "$(shard 1)"
mv "$(shard 2)" "$T/away"

failures=0
for file in "$(epoch a)"/*.ppm; do
	cat "$file" >/dev/null 2>&1 || failures=$((failures + 1))
done
equal "files that failed" $failures 16
once a 24
equal "errors" "$(status_of a errors)" 16
grep -q 'shards-000001.tar/class1/000.*: the container changed since the scan' "$LOG"
grep -q 'shards-000002.tar/class2/000.*: No such file or directory' "$LOG"
stop

# The samples of the missing shard are gone, because its directory was listed; later they come back
# with their ids.
ids() { "$PYTHON" "$FS/catalogue.py" rows "$T/state/datasets/images.sqlite"; }
ids >"$T/ids"
start
equal "samples without a shard" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 16
stop
mv "$T/away" "$(shard 2)"
start
equal "samples with it" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 24
stop
ids | diff "$T/ids" -

# A new shard is read, and the known ones are not, because they can't be read now.
inode=$(stat -c %i "$T/state/datasets/images.sqlite")
start && stop
equal "a catalogue that nothing changed" "$(stat -c %i "$T/state/datasets/images.sqlite")" "$inode"
"$PYTHON" - "$(shard 0)" "$T/shards/z.tar" <<'END'
import sys, tarfile
with tarfile.open(sys.argv[1]) as old, tarfile.open(sys.argv[2], "w") as new:
    for info in old:
        data = old.extractfile(info)
        info.name = "class3/" + info.name.rpartition("/")[2]
        new.addfile(info, data)
END
size=$(stat -c %s "$(shard 0)")
touch -r "$(shard 0)" "$T/time"
truncate -s 0 "$(shard 0)" && truncate -s "$size" "$(shard 0)" && touch -r "$T/time" "$(shard 0)"
start
equal "samples with a new shard" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 32
equal "classes" "$(xargs <"$M/datasets/images/classes.txt")" "class0 class1 class2 class3"
ids | sed -n 1,24p | diff "$T/ids" -
stop

# A pattern names all shards: if one is missing, the dataset stays unchanged.
cp "$T/first" "$(shard 0)"
D="$T/shards/shards-{000000..000002}.tar" config images.scan=before joaderfs.state="$T/state2"
start && stop
rm "$(shard 1)"
start
equal "samples of the pattern" "$(sed -n 's/^samples //p' "$M/datasets/images/info")" 24
grep -q "shards-000001.tar: No such file or directory, but the last scan found samples there" "$LOG"
stop
