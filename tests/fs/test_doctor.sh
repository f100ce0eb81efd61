#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# joaderctl doctor reports good settings as good, and names each problem with a remedy. It asks no
# daemon.
. "$(dirname "$0")/lib.sh"
dataset 2 4

STATUS=0
examine() { # COMMAND...: joaderctl doctor there, as $OUT and $STATUS
	STATUS=0
	OUT=$("$@" 2>&1) || STATUS=$?
}
says() { # WORD TEXT
	grep -qE -- "^$1 +.*$2" <<<"$OUT" || fail "it does not say '$1 ... $2': $OUT"
}
mends() { # TEXT
	grep -qE -- "^ +$1" <<<"$OUT" || fail "it does not say '$1': $OUT"
}
doctor=("$BUILD/joaderctl" doctor)

config joaderfs.cache=64M
examine "${doctor[@]}" "$T/joaderfs.ini"
equal "status" "$STATUS" 0
says ok "/dev/fuse can be opened"
says ok "cache = 64M"
says ok "dataset images: not scanned yet"
(($(uname -r | awk -F. '{ print $1 * 100 + $2 }') < 609)) || ((EUID != 0)) ||
	says ok "the kernel reads samples by itself"

# --- problems of the ini ---
start
stop
examine "${doctor[@]}" "$T/joaderfs.ini"
says ok "dataset images: unchanged"
cp "$D/class0/0000.jpg" "$D/class0/new.jpg"
touch "$D/class0"
examine "${doctor[@]}" "$T/joaderfs.ini"
says costs "dataset images: .* has changed"
mends "restart joaderfs"
job twice tensor.resize=256 tensor.crop=224 view.layout=classes
job arrays tensor.resize=256 tensor.crop=224 tensor.format=npy
job once tensor.resize=256 view.layout=classes
examine "${doctor[@]}" "$T/joaderfs.ini"
says costs "job twice: .* a script that resizes and crops, too, gets only the middle"
job small tensor.crop=32
job batches tensor.crop=32 view.layout=batch view.batch=8
job hardly tensor.crop=80
examine "${doctor[@]}" "$T/joaderfs.ini"
says costs "job small: .* opening a file takes longer"
equal "jobs that cost" "$(grep -c '^costs *job' <<<"$OUT")" 2
rm "$T"/jobs.d/*.ini
config joaderfs.cache=900T
mv "$D" "$T/elsewhere"
examine "${doctor[@]}" "$T/joaderfs.ini"
equal "status" "$STATUS" 1
says breaks "cache = 900T is more than the memory"
says breaks "dataset images: .*No such file or directory"
config joaderfs.cash=1G
examine "${doctor[@]}" "$T/joaderfs.ini"
equal "status" "$STATUS" 1
grep -qF 'did you mean "cache"?' <<<"$OUT" || fail "$OUT"

# --- problems of the machine ---
examine bash -c 'ulimit -n 256; "$@"' - "${doctor[@]}"
says costs "256 files can be open"
mends "ulimit -Hn"
if ((EUID == 0)); then
	examine setpriv --reuid=65534 --regid=65534 --clear-groups env PATH=/nowhere "${doctor[@]}"
	says breaks "fusermount3 is missing"
	mends "apt install fuse3"
	equal "status" "$STATUS" 1
	examine unshare -m bash -c 'mount -t tmpfs none /dev && "$@"' - "${doctor[@]}"
	says breaks "/dev/fuse: No such file"
	mends "modprobe fuse"
	[[ ! -w /sys/class/bdi ]] || says ok "2 MiB ahead"
	examine unshare -m bash -c 'mount -o remount,bind,ro /sys && "$@"' - "${doctor[@]}"
	says costs "only 128 KiB ahead .*Read-only"
	mends "mount -o remount,rw /sys"
	mv "$T/elsewhere" "$D"
	config joaderfs.cache=64M
	examine unshare -m bash -c 'mount -t tmpfs none /etc && "$@"' - \
		setpriv --reuid=65534 --regid=65534 --clear-groups "${doctor[@]}"
	says costs "allow_other is refused"
	mends "echo user_allow_other"
	# The dataset is on a FUSE file system, the daemon's own mount.
	job flat tensor.crop=32
	start
	sed "s|^path.*|path = $M/data|; s|^state.*|state = $T/other|" "$T/joaderfs.ini" >"$T/far.ini"
	examine "${doctor[@]}" "$T/far.ini"
	says costs "dataset images: .* is on FUSE"
fi
