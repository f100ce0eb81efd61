#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Deployments in the table of joaderfs-cluster(7) that no other test covers: an engine that is a
# Redis Cluster, and layouts that ranks can't have.
. "$(dirname "$0")/lib.sh"
. "$FS/web.sh"
. "$FS/cluster.sh"
dataset 2 12 32x24
port=$(free_port)
# shellcheck disable=SC2034 # cluster.sh uses them
LISTEN=(--port "$port" --bind 127.0.0.1 --cluster-enabled yes --cluster-port "$(free_port)")
# shellcheck disable=SC2034
ENGINE=redis://127.0.0.1:$port
redis
ask cluster addslotsrange 0 16383 >/dev/null
pair 'ttl = 1s' tensor.crop=16
cat "$T/a/mnt/jobs/r0/epoch-0000"/*.ppm >/dev/null &
cat "$T/b/mnt/jobs/r1/epoch-0000"/*.ppm >/dev/null
wait $!
equal "samples of both ranks" "$(cut -f2 "$T"/[ab]/mnt/jobs/r?/epoch-0000.order | sort -n)" "$(seq 0 23)"

for layout in classes mirror; do
	rank a 0 tensor.crop=16 view.layout=$layout
	! ctl_of a add --name other "$T/a/jobs/r0.ini" >"$T/out" 2>&1 || fail "ranks have layout = $layout"
	grep -q 'ranks: .*layout = flat, tar or batch' "$T/out" || fail "$(<"$T/out")"
done
end a
end b
