#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# A tier keeps data read from a slow storage: a later epoch reads a part of it there, with the same
# bytes, also after the daemon was killed during a write. A changed file is read again from the
# storage. A full disk, a second daemon and damaged files do no harm.
. "$(dirname "$0")/lib.sh"
alone
N=840 # of which 236 fit into a tier of 1M, each with a block and a name
dataset 2 $((N / 2)) 64x48
mkdir "$T/remote" "$T/disk"
mount -t tmpfs -o size=64m,mode=700 tmpfs "$T/disk" 2>/dev/null ||
	skip "needs root, to mount a tmpfs"
"$BUILD/tests/clients/slow_storage" "$D" "$T/remote" 1 &
SLOW=$!
wait_for() { # COMMAND...: until it is so, at most twenty seconds
	local _
	for _ in $(seq 400); do
		if "$@"; then return; fi
		sleep 0.05
	done
	fail "not so: $*"
}
wait_for test -e "$T/remote/class0"

tiered() { # PATH DIRECTORY SIZE
	config joaderfs.cache=64K
	sed -i "s|^path = .*|path = $1\ntier = $2, $3|" "$T/joaderfs.ini"
}
tier_of() { # KEY: of the dataset
	sed -n "s/^tier_$1 //p" "$M/datasets/images/info"
}
ready() {
	[[ $(tier_of state) == reads* ]]
}
begin() {
	start "$@"
	wait_for ready
}
# same EPOCH [JOB]: reads the epoch, and compares each file with its source file in the order
same() {
	"$PYTHON" - "$M/jobs/${2-a}/epoch-$1" "$D" <<-'END' || fail "epoch $1 is not as its source"
		import os, sys
		epoch, source = sys.argv[1:]
		def content(path):
		    with open(path, "rb") as file:
		        return file.read()
		files = {name: content(os.path.join(epoch, name))
		         for name in sorted(os.listdir(epoch)) if name.endswith(".jpg")}
		rows = [row.split("\t") for row in content(epoch + ".order").decode().splitlines()]
		wrong = [path for position, _, _, _, path in rows
		         if not files[f"{int(position):08d}.jpg"].startswith(
		             content(os.path.join(source, path)))]
		sys.exit(f"{len(files)} files, wrong: {wrong}" if wrong or not files else 0)
	END
}
# finds EPOCH: reads the epoch as same does, and prints the percentage that was found in the tier
finds() {
	local hits misses
	hits=$(counter tier_hits) misses=$(counter tier_misses)
	same "$1"
	hits=$(($(counter tier_hits) - hits)) misses=$(($(counter tier_misses) - misses))
	echo $((100 * hits / (hits + misses)))
}
JOB=(tensor.format=source job.epochs=30 view.lookahead=4)
job a "${JOB[@]}"

# --- a tier for a quarter of the dataset
tiered "$T/remote" "$T/disk/tier" 1M
begin
equal "found in the first epoch" "$(finds 0000)" 0
for epoch in 0001 0002; do
	found=$(finds $epoch)
	echo "epoch $epoch: $found % in the tier"
	((found >= 25)) || fail "only $found % of epoch $epoch are found in the tier"
done
once a $N 0002
equal "evictions" "$(counter tier_evictions)" 0
(($(tier_of bytes) <= 1048576)) || fail "it takes $(tier_of bytes)"
(($(du -s --block-size=1 "$T/disk/tier" | cut -f1) <= 1048576)) || fail "it takes more on the disk"
(($(counter tier_hit_bytes) > 0 && $(counter tier_fetched_bytes) > 0)) || fail "no bytes"
grep -q '^joaderfs_tier_hits_total [1-9]' "$M/metrics" || fail "no metrics"
grep -q "^tier .*/disk/tier: 2[0-9][0-9] samples" "$M/jobs/a/status" ||
	fail "status: $(grep ^tier "$M/jobs/a/status")"

# --- another job decodes the samples: they equal PIL's
job_text b tensor.crop=32 | ctl add - >/dev/null
hits=$(counter tier_hits)
pixels "b 0 32" >/dev/null
(($(counter tier_hits) > hits)) || fail "nothing of b was found in the tier"

# --- a second daemon
sed "s|^state = .*|state = $T/state2|; s|^socket = .*|socket = $T/socket2|; s|^jobs = .*||" \
	"$T/joaderfs.ini" >"$T/second.ini"
mkdir "$T/mnt2"
status=0
timeout 20 "$PROGRAM" --no-supervisor "$T/second.ini" "$T/mnt2" -f >"$T/second" 2>&1 || status=$?
((status == 1)) || fail "the second daemon ended with $status"
grep -q "tier $T/disk/tier: in use by another joaderfs" "$T/second" || fail "$(cat "$T/second")"

# --- damaged files, and others
for file in $(find "$T/disk/tier/images" -type f | head -n 20); do
	printf 'x' | dd of="$file" bs=1 seek=100 conv=notrunc status=none
done
echo "none of ours" >"$T/disk/tier/images/notes"
finds 0003 >/dev/null
equal "damaged" "$(counter tier_damaged)" 20

# --- the tier is found after a restart
stop
begin
grep -q "1 files that do not belong to a tier" "$LOG" || fail "a strange file is not told"
found=$(finds 0004)
((found >= 25)) || fail "only $found % after a restart"

# --- the daemon is killed while the tier writes all samples, slowly
stop
tiered "$T/remote" "$T/disk/large" 40M
begin --fault "tier.write:CRASH:after=301"
(same 0005) >/dev/null 2>&1 || true # it is killed now, or a moment later
status=0
wait "$PID" || status=$?
equal "status of the daemon, killed while it wrote" "$status" 137
umount -l "$M" 2>/dev/null || true
[[ -n $(find "$T/disk/large" -name '*.new') ]] || fail "it was not killed while it wrote"
begin
equal "samples" "$(tier_of samples)" 150
[[ -z $(find "$T/disk/large" -name '*.new') ]] || fail "a part of a file is left"
same 0005
same 0006
equal "damaged" "$(counter tier_damaged)" 0
has_all() {
	[[ $(tier_of samples) == "$N" ]]
}
same 0007
wait_for has_all
misses=$(counter tier_misses)
same 0008
equal "misses, with all of it in the tier" "$(counter tier_misses)" "$misses"

# --- a file that changed
stop
umount "$T/remote"
wait "$SLOW" || true
tiered "$D" "$T/disk/large" 40M
begin
same 0009
same 0010
wait_for has_all
stop
cp "$D/class1/0007.jpg" "$D/class0/0007.jpg"
touch -d 2001-01-01 "$D/class0/0007.jpg"
touch -d 2001-01-01 "$D/class0/0008.jpg"
begin
misses=$(counter tier_misses)
job_text c "${JOB[@]}" | ctl add - >/dev/null
same 0000 c
equal "read anew" "$(($(counter tier_misses) - misses))" 2
wait_for has_all

# --- a full disk
stop
mkdir "$T/full"
mount -t tmpfs -o size=600k,mode=700 tmpfs "$T/full"
tiered "$D" "$T/full/tier" 40M
begin
same 0001 c
same 0002 c
equal "lines of the log" "$(grep -c "can't be written: No space left" "$LOG")" 1
[[ $(tier_of state) == "reads only"* ]] || fail "$(tier_of state)"
(($(counter tier_hits) > 0)) || fail "nothing was found in the full one"
stop
umount "$T/full"

# --- two datasets give the tier different sizes
printf '[dataset other]\npath = %s\ntier = %s, 2M\n' "$D" "$T/full/tier" >>"$T/joaderfs.ini"
refused "[dataset other]:tier" "found 2M" "allowed: 40M, as [dataset images] has it"
sed -i '/^\[dataset other/,$d; s|^tier = .*|tier = /nvme|' "$T/joaderfs.ini"
refused "[dataset images]:tier" 'found "/nvme"' "DIRECTORY, SIZE"
umount "$T/disk"
