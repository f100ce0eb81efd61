#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# config/examples for Kubernetes, compose, Slurm and systemd-run are run as far as possible without
# these: with their commands, inis, paths and rights.
if ((EUID == 0)) && [[ -z ${OWN_PLACES-} ]]; then
	made=()
	for place in /run /mnt /data /etc/joaderfs /var/lib/joaderfs; do
		! mkdir "$place" 2>/dev/null || made+=("$place")
	done
	status=0
	OWN_PLACES=1 unshare -m bash "$0" || status=$?
	((${#made[@]} == 0)) || rmdir "${made[@]}"
	exit "$status"
fi
. "$(dirname "$0")/user.sh"
"$PYTHON" -c 'import yaml' 2>/dev/null || skip "no yaml for $PYTHON on this system"
examples=$ROOT/config/examples
export PATH=$BUILD:$examples:$PATH
dataset 2 4

# The places in the examples are directories of this test.
for place in run mnt data etc/joaderfs var/lib/joaderfs; do
	mkdir -p "$T/places/$place"
	[[ -d /$place ]] || skip "can't make /$place"
done
mkdir -p "$T/places/run/joaderfs" "$T/places/mnt/joaderfs/x" "$T/places/data/photos"
for place in run mnt data; do
	mount --bind "$T/places/$place" "/$place" || skip "can't mount here"
done
mount --bind "$T/places/etc/joaderfs" /etc/joaderfs
mount --bind "$T/places/var/lib/joaderfs" /var/lib/joaderfs
mount --bind "$D" /data/photos
chown 65534:65534 /run/joaderfs /var/lib/joaderfs

# take command FILE CONTAINER: prints the container's command, a word on each line
# take ini FILE KEY: prints the text in the config map
take() {
	"$PYTHON" - "$@" <<-'END'
		import sys, yaml
		kind, file, name = sys.argv[1:]
		found = []
		for document in yaml.safe_load_all(open(f"{file}")):
		    if kind == "ini":
		        found += [document["data"][name]] if document["kind"] == "ConfigMap" else []
		    elif kind == "service":
		        found += document["services"][name]["command"]
		    elif document["kind"] == "Pod":
		        spec = document["spec"]
		        for container in spec["initContainers"] + spec["containers"]:
		            if container["name"] == name:
		                found += container["command"]
		            # Each mount has a volume.
		            names = {volume["name"] for volume in spec["volumes"]}
		            assert {m["name"] for m in container["volumeMounts"]} <= names
		print("\n".join(found))
		assert found
	END
}
until_read() { # PATH
	until timeout 20 stat "$1" >/dev/null 2>&1; do
		kill -0 "$PID" 2>/dev/null || fail "it ended: $(cat "$LOG")"
		sleep 0.05
	done
}
unmounted() {
	for _ in $(seq 200); do
		mounted /mnt/joaderfs/x || return 0
		sleep 0.05
	done
	fail "it is still mounted"
}

# --- Kubernetes: a helper that mounts, and a joaderfs without rights ---
pod=$examples/kubernetes.yaml
mkdir /etc/joaderfs/jobs.d
take ini "$pod" joaderfs.ini | sed 's/cache = .*/cache = 64M/' >/etc/joaderfs/joaderfs.ini
take ini "$pod" resnet18.job | sed 's/resize = .*/resize = 40\ncrop = 32/' \
	>/etc/joaderfs/jobs.d/resnet18.ini
mapfile -t helper < <(take pod "$pod" fuse-helper)
mapfile -t command < <(take pod "$pod" joaderfs)
mapfile -t train < <(take pod "$pod" train)
[[ ${helper[0]} == fuse-helper && ${command[0]} == fuse-helper ]] || fail "${helper[*]}"
"${helper[@]}" >>"$LOG" 2>&1 &
helping=$!
PID=$helping
until [[ -S /run/joaderfs/fuse ]]; do
	kill -0 "$helping" 2>/dev/null || fail "the helper ended: $(cat "$LOG")"
	sleep 0.05
done
serve() {
	# shellcheck disable=SC2154 # user.sh's
	"${user[@]}" PATH="$PATH" unshare -U "${command[@]}" >>"$LOG" 2>&1 &
	serving=$!
	PID=$serving
	until_read /mnt/joaderfs/x/README
}
bytes() {
	find "${train[-1]}/" -name '*.ppm' -exec cat {} + | wc -c
}
serve
equal "bytes for the training" "$(bytes)" $((8 * (13 + 32 * 32 * 3)))
# A container that ends is restarted, and the helper mounts again.
kill -TERM $serving
wait $serving || fail "it ended with $?"
serve
equal "bytes from the second one" "$(bytes)" $((8 * (13 + 32 * 32 * 3)))
kill -TERM $serving
wait $serving || fail "the second one ended with $?"
PID=
kill -TERM $helping
wait $helping || fail "the helper ended with $?"
unmounted

# --- compose ---
mapfile -t command < <(take service "$examples/compose.yaml" joaderfs)
chown 0:0 /var/lib/joaderfs
chown -R 0:0 /var/lib/joaderfs
"${command[@]}" >>"$LOG" 2>&1 &
PID=$!
until_read /mnt/joaderfs/x/README
equal "bytes under compose" "$(bytes)" $((8 * (13 + 32 * 32 * 3)))
kill -TERM "$PID"
wait "$PID" || fail "it ended with $?"
PID=

# --- Slurm: prolog and epilog, which never fail ---
export JOADERFS_CONFIG=/etc/joaderfs/joaderfs.ini JOADERFS_MOUNTPOINT=/run/joaderfs/slurm
slurm-prolog &
slurm-prolog
wait $!
equal "daemons" "$(grep -c ' /run/joaderfs/slurm fuse' /proc/self/mounts)" 1
joaderctl --config "$JOADERFS_CONFIG" add --name slurm-42-net /etc/joaderfs/jobs.d/resnet18.ini
joaderctl --config "$JOADERFS_CONFIG" add --name slurm-421-net /etc/joaderfs/jobs.d/resnet18.ini
SLURM_JOB_ID=42 slurm-epilog
equal "jobs after the epilog" "$(names /run/joaderfs/slurm/jobs | xargs)" "resnet18 slurm-421-net"
for id in '' 7 '*'; do
	SLURM_JOB_ID=$id slurm-epilog || fail "the epilog of '$id' ended with $?"
done
equal "jobs after others" "$(names /run/joaderfs/slurm/jobs | xargs)" "resnet18 slurm-421-net"
umount /run/joaderfs/slurm
flock --timeout 60 /var/lib/joaderfs/lock true
rm /etc/joaderfs/joaderfs.ini
slurm-prolog || fail "the prolog without an ini ended with $?"
SLURM_JOB_ID=42 slurm-epilog || fail "the epilog without an ini ended with $?"

# --- systemd-run: its properties are those of a unit ---
{
	printf '[Service]\nExecStart=/bin/true\n'
	grep -o 'property=[^ ]*' "$examples/systemd-run" | sed 's/^property=//'
} >"$T/joaderfs.service"
if command -v systemd-analyze >/dev/null; then
	systemd-analyze verify --man=no "$T/joaderfs.service" >"$T/verify" 2>&1 || fail "$(cat "$T/verify")"
	! grep -F "$T/joaderfs.service" "$T/verify" || fail "systemd has something to say"
fi
for place in data/photos data mnt run etc/joaderfs var/lib/joaderfs; do
	umount "/$place"
done
