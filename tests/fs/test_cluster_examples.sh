#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# config/examples for several machines: the Slurm script makes a group of ranks in an allocation of
# two machines, and leaves nothing behind; the pods of the StatefulSets form a group with one rank
# each.
. "$(dirname "$0")/lib.sh"
. "$FS/cluster.sh"
. "$FS/machines.sh"
"$PYTHON" -c 'import yaml' 2>/dev/null || skip "no yaml for $PYTHON on this system"
examples=$ROOT/config/examples
dataset 2 30 300x260
# shellcheck disable=SC2034 # machines.sh uses it
APART=()
machines training-0 training-1
mkdir "$T/bin" "$T/shared"
ln -s "$PROGRAM" "$BUILD/joaderctl" "$examples/fuse-helper" "$examples/slurm-ranks" "$T/bin/"
export PATH=$T/bin:$PATH

# --- Slurm ---
# srun: a task on each of the two machines
cat >"$T/bin/srun" <<'END'
#!/bin/bash
while [[ $1 == --* ]]; do shift; done
tasks=()
trap 'kill "${tasks[@]}"' TERM INT
number=0 status=0
for machine in $MACHINES; do
	SLURM_PROCID=$number nsenter -t "$machine" -m -u -n "$@" &
	tasks+=($!)
	number=$((number + 1))
done
for task in "${tasks[@]}"; do
	while kill -0 "$task" 2>/dev/null; do wait "$task" || status=$?; done
	wait "$task" || status=$?
done
exit $status
END
# The script of a rank records its samples.
cat >"$T/bin/read-rank" <<'END'
#!/bin/bash
echo "$MASTER_ADDR $(ls "$1" | wc -l)" >"$T/shared/rank-$SLURM_PROCID"
cat "$1"/*.ppm | wc -c >>"$T/shared/rank-$SLURM_PROCID"
cut -f2 "$1/../epoch-0000.order" >"$T/shared/samples-$SLURM_PROCID"
exit "${STATUS-0}"
END
chmod +x "$T/bin/srun" "$T/bin/read-rank"
export T

# batch: runs the script as sbatch does
batch() {
	on training-0 env -C "$T/shared" TMPDIR=/run SLURM_JOB_ID=77 SLURM_NNODES=2 SLURM_NTASKS=2 \
		MACHINES="${MACHINE[training-0]} ${MACHINE[training-1]}" "$@" \
		slurm-ranks /data/photos read-rank '{}' >"$T/batch" 2>&1
}
status=0
batch STATUS=3 || status=$?
equal "status of a training that fails" $status 3
for rank in 0 1; do
	equal "rank $rank" "$(xargs <"$T/shared/rank-$rank")" "training-0 60 $((30 * (15 + 224 * 224 * 3)))"
done
equal "samples of both ranks" "$(sort -n "$T"/shared/samples-?)" "$(seq 0 59)"
equal "left of it" "$(find "$T/shared" -name 'joaderfs*')" ""
! grep 'run/joaderfs' "/proc/${MACHINE[training-1]}/mounts" || fail "it is still mounted"

# --- Kubernetes: the containers of both pods, without their limits ---
pods=$examples/kubernetes-ranks.yaml
"$PYTHON" - "$pods" "$T" <<'END'
import json, sys, yaml
path, to = sys.argv[1:]
documents = list(yaml.safe_load_all(open(path)))
maps = {d["metadata"]["name"]: d["data"] for d in documents if d["kind"] == "ConfigMap"}
services = {d["metadata"]["name"]: d["spec"] for d in documents if d["kind"] == "Service"}
for document in documents:
    if document["kind"] != "StatefulSet":
        continue
    spec = document["spec"]
    pod = spec["template"]["spec"]
    assert spec["serviceName"] in services
    labels = spec["template"]["metadata"]["labels"]
    assert labels == spec["selector"]["matchLabels"] == services[spec["serviceName"]]["selector"]
    volumes = {v["name"] for v in pod["volumes"]}
    volumes |= {c["metadata"]["name"] for c in spec["volumeClaimTemplates"]}
    ports = {p["name"]: p.get("containerPort") for c in pod.get("initContainers", []) + pod["containers"]
             for p in c.get("ports", [])}
    for port in services[spec["serviceName"]]["ports"]:
        assert ports.get(port["name"], port["port"]) == port["port"]
    for container in pod.get("initContainers", []) + pod["containers"]:
        assert {m["name"] for m in container["volumeMounts"]} <= volumes
        with open(f"{to}/container-{container['name']}", "w") as file:
            print(*container["command"], sep="\n", file=file)
    for volume in pod["volumes"]:
        for item in volume.get("configMap", {}).get("items", []):
            with open(f"{to}/map-{item['path'].split('/')[-1]}", "w") as file:
                file.write(maps[volume["configMap"]["name"]][item["key"]])
END
for name in training-0 training-1; do
	echo "$(sed -n 's/ training-0$//p' "$T/$name/etc/hosts") joaderfs-engine training-0.training" >>"$T/$name/etc/hosts"
	mkdir -p "$T/$name/etc/joaderfs/jobs.d" "$T/$name/run/secrets/joaderfs" "$T/$name/run/joaderfs" \
		"$T/$name/mnt/joaderfs/x" "$T/$name/data/redis"
	sed 's/^listen = .*/&\nttl = 1s/' "$T/map-joaderfs.ini" >"$T/$name/etc/joaderfs/joaderfs.ini"
	cp "$T/map-vit.ini" "$T/$name/etc/joaderfs/jobs.d/"
done
(umask 077 && head -c 32 /dev/urandom | base64 >"$T/training-0/run/secrets/joaderfs/engine")
(umask 077 && head -c 32 /dev/urandom | base64 >"$T/training-0/run/secrets/joaderfs/secret")
cp -p "$T/training-0/run/secrets/joaderfs"/* "$T/training-1/run/secrets/joaderfs/"

# container MACHINE NAME [VARIABLE=VALUE...]: runs a container's command on the machine
container() {
	local command
	mapfile -t command <"$T/container-$2"
	nsenter -t "${MACHINE[$1]}" -m -u -n env "${@:3}" "${command[@]}" >>"$LOG" 2>&1 &
	containers+=($!)
}
containers=()
container training-0 redis
for rank in 0 1; do
	container training-$rank fuse-helper
	until [[ -S $T/training-$rank/run/joaderfs/fuse ]]; do
		kill -0 $! || fail "the helper ended: $(<"$LOG")"
		sleep 0.02
	done
	container training-$rank joaderfs RANK=$rank WORLD_SIZE=2
done
# The container of the training reads this path.
view=$(grep -o '/mnt[^ ]*' "$T/container-train" | head -n 1)
readers=()
for rank in 0 1; do
	until on training-$rank test -d "$view/"; do
		kill -0 "${containers[-1]}" || fail "joaderfs ended: $(<"$LOG")"
		sleep 0.05
	done
	on training-$rank sh -c "cat $view/*.ppm" >/dev/null &
	readers+=($!)
done
for reader in "${readers[@]}"; do wait "$reader" || fail "a rank ended with $?"; done
equal "samples of both pods" "$(for rank in 0 1; do
	on training-$rank cut -f2 "$view/../epoch-0000.order"
done | sort -n)" "$(seq 0 59)"
# Sidecars end in reverse order.
for ((i = ${#containers[@]} - 1; i >= 0; i--)); do
	kill -TERM "${containers[i]}"
	wait "${containers[i]}" || fail "a container ended with $?: $(tail -n 5 "$LOG")"
done
