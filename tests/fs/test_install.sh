#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# make install, then mount -t fuse.joaderfs by mount(8), and make uninstall.
. "${0%/*}/lib.sh"
((EUID == 0)) || skip "mount(8) needs root"
[[ -x $(command -v mount.fuse3) || -x $(command -v mount.fuse) ]] || skip "no mount.fuse3"
make -s -C "$ROOT" VARIANT="${BUILD##*/}" DESTDIR="$T/root" PREFIX=/usr install >/dev/null
for file in bin/joaderfs bin/joaderctl share/man/man8/joaderfs.8 share/man/man1/joaderctl.1 \
	share/man/man7/joaderfs-{cluster,layouts,preparation,readers}.7 \
	share/man/man5/joaderfs.ini.5 share/man/man5/joaderfs-state.5 share/doc/joaderfs/README.md bin/joader-sim \
	share/man/man1/joader-sim.1 share/doc/joaderfs/examples/sim/random-4.ini \
	share/bash-completion/completions/joaderctl share/zsh/vendor-completions/_joaderctl \
	share/fish/vendor_completions.d/joaderctl.fish share/doc/joaderfs/examples/kubernetes.yaml \
	share/man/man7/joaderfs-prepare.7 include/joaderfs_prepare.h \
	lib/python3/dist-packages/joaderfs_prepare.py \
	share/doc/joaderfs/tools/prepare/examples/spectrogram.py \
	lib/python3/dist-packages/joaderfs/__init__.py; do
	[[ -s $T/root/usr/$file ]] || fail "not installed: $file"
done
[[ -e $T/root/usr/lib/python3/dist-packages/joaderfs/py.typed ]] || fail "the module is not typed"
# All files to which the documents link are installed.
find "$T/root/usr/share/doc/joaderfs" -name '*.md' >"$T/documents"
equal "documents" "$(wc -l <"$T/documents")" "$(find "$ROOT/README.md" "$ROOT/docs" "$ROOT/src" "$ROOT/tools" -name '*.md' | wc -l)"
while read -r document; do
	{ grep -oE '\]\([^)]+\)' "$document" || true; } | sed 's/^](//; s/)$//; s/#.*//' | while read -r link; do
		[[ -e ${document%/*}/$link ]] || fail "$document links to $link, which is not installed"
	done
done <"$T/documents"
"$T/root/usr/bin/joaderfs" --version | grep -q '^joaderfs [0-9]'
"$T/root/usr/bin/joaderctl" --version | grep -q '^joaderctl [0-9]'

dataset 2 4
job a tensor.crop=32
config
# mount.fuse3 looks only in the usual places, so these are the test's directories in a mount name
# space.
export D M T
# shellcheck disable=SC2016 # for the inner shell
unshare --mount bash -euo pipefail -c '
	mount --bind "$T/root/usr/bin" /usr/local/bin
	mount -t fuse.joaderfs "$T/joaderfs.ini" "$M" -o ro,nodev
	findmnt -n -o FSTYPE "$M" >"$T/type"
	cat "$M"/jobs/a/epoch-0000/*.ppm >/dev/null
	cut -f2 "$M/jobs/a/epoch-0000.order" | sort -n >"$T/samples"
	umount "$M"'
equal "type" "$(<"$T/type")" fuse.joaderfs
equal "samples" "$(<"$T/samples")" "$(seq 0 7)"
make -s -C "$ROOT" VARIANT="${BUILD##*/}" DESTDIR="$T/root" PREFIX=/usr uninstall
equal "files left" "$(find "$T/root" -type f)" ""
