#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# Programs prepare samples that are no images: in each format jobs read the result of the function.
# The function runs once for jobs with one preparation, as an ordinary user without a network. Kills
# of its processes and of the engine do no harm.
. "$(dirname "$0")/lib.sh"
HELPER=$ROOT/tools/prepare/joaderfs_prepare.py
chmod 755 "$T"

# Makes arrays of float32 with 4 x 6 numbers. Their names contain their sums.
"$PYTHON" - "$D" <<'END'
import sys, os, numpy
for c in range(2):
    os.makedirs("%s/class%d" % (sys.argv[1], c))
    for i in range(12):
        numpy.save("%s/class%d/%02d.npy" % (sys.argv[1], c, i),
                   numpy.arange(24, dtype=numpy.float32).reshape(4, 6) + 100 * c + i)
END
mkdir "$T/ran"
chmod 777 "$T/ran"
cat >"$T/double.py" <<END
import io, os, numpy
def prepare(data, name):
    open("$T/ran/%s" % name.replace("/", "-"), "a").write("%d\n" % os.getuid())
    return numpy.load(io.BytesIO(data)) * 2
END
cat >"$T/pixels.py" <<'END'
import io, numpy
def prepare(data, name):
    array = numpy.load(io.BytesIO(data))
    return numpy.repeat(array[:, :, None], 3, axis=2).astype(numpy.uint8)
END
cat >"$T/single.py" <<'END'
import io, numpy
def prepare(data, name):
    return numpy.load(io.BytesIO(data))[:, :, None].astype(numpy.uint8)
END
cat >"$T/network.py" <<'END'
import socket, numpy
def prepare(data, name):
    socket.socketpair()
    socket.create_connection(("127.0.0.1", int(open("PORTFILE").read())), 2)
    return numpy.zeros((4, 6), numpy.float32)
END
sed -i "s,PORTFILE,$T/port," "$T/network.py"

config images.extensions=npy
preparation() { # NAME key=value...
	printf '[preparation %s]\n' "$1"
	printf 'command = %s %s %s/%s.py\n' "$PYTHON" "$HELPER" "$T" "$1"
	printf '%s\n' "${@:2}"
}
{
	preparation double "shape = 4 6" dtype=float32 processes=2
	preparation pixels "shape = 4 6 3" dtype=uint8 processes=1
	preparation single "shape = 4 6 1" dtype=uint8 processes=1
	preparation network "shape = 4 6" dtype=float32 processes=1
} >>"$T/joaderfs.ini"
job npy tensor.prepare=double
job same tensor.prepare=double tensor.format=record
job raw tensor.prepare=double tensor.format=raw view.layout=mirror
job batch tensor.prepare=double view.layout=batch view.batch=8
job tar tensor.prepare=double view.layout=tar
job ppm tensor.prepare=pixels tensor.format=ppm view.layout=mirror
job planes tensor.prepare=pixels tensor.dtype=float32 tensor.axes=CHW augment.hflip=1
job single tensor.prepare=single view.layout=batch view.batch=8
start

cat >"$T/check.py" <<'END'
import glob, io, os, sys, tarfile, numpy
mount, data = sys.argv[1:3]
want = {}
for path in glob.glob(data + "/*/*.npy"):
    want[os.path.relpath(path, data)] = numpy.load(path) * 2

def order(job):
    return {int(line.split("\t")[0]): line.rstrip("\n").split("\t")[4]
            for line in open("%s/jobs/%s/epoch-0000.order" % (mount, job))}

def same(job, position, array):
    path = order(job)[position]
    assert array.dtype == numpy.float32 and (array == want[path]).all(), (job, position)
    return path

jobs = mount + "/jobs/"
for i in range(24):
    same("npy", i, numpy.load(jobs + "npy/epoch-0000/%08d.npy" % i))
    record = numpy.load(jobs + "same/epoch-0000/%08d.npy" % i)
    path = same("same", i, record["image"])
    assert record["label"] == int(path[5]), path
for path in want:
    raw = open(jobs + "raw/epoch-0000/" + path + ".raw", "rb").read()
    assert raw == want[path].tobytes(), path
    ppm = open(jobs + "ppm/epoch-0000/" + path + ".ppm", "rb").read()
    bytes_of = numpy.repeat((want[path] / 2)[:, :, None], 3, axis=2).astype(numpy.uint8)
    assert ppm == b"P6\n6 4\n255\n" + bytes_of.tobytes(), path
for k in range(3):
    batch = numpy.load(jobs + "batch/epoch-0000/batch-%06d.npy" % k)
    assert batch.shape == (8, 4, 6)
    single = numpy.load(jobs + "single/epoch-0000/batch-%06d.npy" % k)
    assert (single.shape, single.dtype) == ((8, 4, 6, 1), numpy.uint8)
    for i in range(8):
        same("batch", 8 * k + i, batch[i])
        path = order("single")[8 * k + i]
        assert (single[i, :, :, 0] == (want[path] / 2).astype(numpy.uint8)).all(), path
with tarfile.open(jobs + "tar/epoch-0000/shard-000000.tar") as tar:
    members = [m.name for m in tar if m.name.endswith(".npy")]
    assert len(members) == 24
    for name in members:
        same("tar", int(name[:8]), numpy.load(io.BytesIO(tar.extractfile(name).read())))
for i in range(24):
    planes = numpy.load(jobs + "planes/epoch-0000/%08d.npy" % i)
    pixels = (want[order("planes")[i]] / 2).astype(numpy.uint8)[:, ::-1]
    assert planes.shape == (3, 4, 6)
    assert (planes == (pixels / numpy.float32(255)).astype(numpy.float32)).all(), planes
END
"$PYTHON" "$T/check.py" "$M" "$D"

# five jobs of one preparation: the function ran once for each sample, as nobody
equal "samples that ran" "$(find "$T/ran" -type f | wc -l)" 24
equal "runs, by user" "$(cat "$T"/ran/* | sort | uniq -c | xargs)" "24 $(id -u nobody)"
equal "decodes" "$(counter decodes)" 72

# settings that are impossible for arrays without pixels
refuses() { # TEXT key=value...
	job_text refused "${@:2}" | ctl add - >"$T/answer" 2>&1 && fail "$1: it was added"
	grep -qF -- "$1" "$T/answer" || fail "'$1' is not in: $(cat "$T/answer")"
}
refuses "npy, record or raw" tensor.prepare=double tensor.format=png
refuses "npy, record or raw" tensor.prepare=single tensor.format=ppm
refuses "did you mean \"double\"" tensor.prepare=duoble
refuses "no key of [augment]" tensor.prepare=double augment.hflip=0.5
refuses "neither dtype nor axes" tensor.prepare=double tensor.dtype=float16
refuses "neither dtype nor axes" tensor.prepare=single tensor.axes=CHW
refuses "not with prepare" tensor.prepare=double tensor.crop=3
refuses "not with prepare" tensor.prepare=pixels tensor.channels=gray

# the program can't reach a server of this machine
"$PYTHON" - "$T/port" <<'END' &
import socket, sys
server = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(server.getsockname()[1]))
server.accept()
END
server=$!
while [[ ! -s $T/port ]]; do sleep 0.05; done
"$PYTHON" -c "import socket; socket.create_connection(('127.0.0.1', $(cat "$T/port")))"
wait "$server" # the probe sees a connection
job_text network tensor.prepare=network | ctl add - >/dev/null
! cat "$(epoch network)/00000000.npy" 2>/dev/null || fail "a program has reached a server"
grep -q "preparation network: PermissionError" "$LOG" || fail "no word of the network: $(cat "$LOG")"

# without its preparation a job does not exist, and its state stays for later
stop
cp "$T/joaderfs.ini" "$T/whole.ini"
sed -i '/^\[preparation network\]/,$d' "$T/joaderfs.ini"
: >"$LOG"
start
[[ ! -e $M/jobs/network && -e $M/jobs/npy ]] || fail "jobs: $(ls "$M/jobs")"
grep -qF '[tensor]:prepare: found "network", allowed: a [preparation NAME]' "$LOG" ||
	fail "no word of it: $(cat "$LOG")"
stop
cp "$T/whole.ini" "$T/joaderfs.ini"
start
equal "position of before" "$(order network | head -n 1 | cut -f1)" 0
