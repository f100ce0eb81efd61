# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""python_module.py: checks tools/python/joaderfs without torch. The current directory is a
mount."""

import collections
import doctest
import hashlib
import importlib
import os
import pkgutil
import subprocess
import sys

import numpy

if __name__ == "__main__":
    sys.modules["torch"] = None  # as where there is none
import joaderfs

SAMPLES = 24
MODULES = [name for _, name, _ in pkgutil.iter_modules(joaderfs.__path__, "joaderfs.")]


def digest(image):
    return hashlib.md5(numpy.ascontiguousarray(numpy.asarray(image)).tobytes()).hexdigest()


def expected():
    """The digest and label of each sample in the mirror."""
    return collections.Counter((digest(image), label)
                               for image, label in joaderfs.Dataset("jobs/mirror"))


def once(what, found):
    """Checks that each sample came once, with its label."""
    found = collections.Counter((digest(image), int(label)) for image, label in found)
    assert found == ALL, f"{what}: {len(ALL - found)} are missing, {len(found - ALL)} too many"


# --- without torch ---------------------------------------------------------------------------


def documented():
    for name in ["joaderfs", *MODULES]:
        result = doctest.testmod(importlib.import_module(name))
        assert result.failed == 0
    assert doctest.testmod(joaderfs).attempted > 0


def keys():
    """Checks that the module takes every key of a job's ini, and no other."""
    from joaderfs._job import KEYS
    known = subprocess.run([os.environ["DOCS"], "keys"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split("\n")
    known = {line.split("|")[0] for line in known if line} - {"job.name"}
    known = {key for key in known if key.split(".")[0] in KEYS}
    assert {f"{section}.{key}" for section, words in KEYS.items() for key in words.split()} == known


def formats():
    """Every format gives the same pixels."""
    ppm = [image for image, _ in joaderfs.Dataset("jobs/mirror")]
    for format in ("bmp", "png", "npy", "raw", "record"):
        layout = "flat" if format == "record" else "mirror"
        with joaderfs.job("images", name=format, crop=(32, 24), format=format, layout=layout,
                          order="sequential") as job, \
                joaderfs.job("images", name="beside", crop=(32, 24), layout="mirror") as same:
            found, wanted = list(job.dataset()), list(same.dataset())
        assert len(found) == SAMPLES
        for (image, label), (other, wanted_label) in zip(found, wanted):
            assert image.shape == (24, 32, 3) and (image == other).all(), format
            assert label == wanted_label, format
    with joaderfs.job("images", name="chw", crop=32, format="npy", dtype="float32", axes="CHW",
                      layout="mirror") as job:
        image = job.dataset()[0][0]
    assert image.shape == (3, 32, 32)
    assert (image == numpy.float32(ppm[0].transpose(2, 0, 1)) / 255).all()
    with joaderfs.job("images", name="source", format="source", layout="mirror") as job:
        assert job.dataset()[0][0].shape == (72, 96, 3)


def mapped():
    """A batch is the mapped file, not a copy, and can be written."""
    images, labels = joaderfs.Dataset("jobs/batch")[1]
    address = images.__array_interface__["data"][0]
    with open("/proc/self/maps", encoding="utf-8") as maps:
        lines = [line for line in maps
                 if int(line.split("-")[0], 16) <= address < int(line.split()[0].split("-")[1], 16)]
    assert lines and "batch-000001.npy" in lines[0], lines
    images[0] = 0
    assert images.shape[0] == len(labels) == 8


def layouts():
    """Iterates over each layout; tar and batch by files."""
    once("flat", joaderfs.IterableDataset("jobs/flat"))
    once("record", joaderfs.IterableDataset("jobs/record"))
    once("tar", joaderfs.IterableDataset("jobs/tar"))
    once("mirror", joaderfs.IterableDataset("jobs/mirror"))
    once("classes", joaderfs.Dataset("jobs/classes"))
    once("shards of flat", joaderfs.Dataset("jobs/sharded"))
    once("batch", [pair for images, labels in joaderfs.IterableDataset("jobs/batch")
                   for pair in zip(images, labels)])
    once("a link", joaderfs.Dataset("data/linked/train"))
    refused(lambda: joaderfs.IterableDataset("jobs/classes"), "class by class")
    refused(lambda: joaderfs.Dataset("jobs/tar"), "layout = tar")
    refused(lambda: joaderfs.Dataset("jobs/nothing"), "no such directory", FileNotFoundError)
    refused(lambda: joaderfs.Dataset("jobs/flat", output="jpeg"), "numpy, torch, pil")


def copies():
    """A copy of an epoch is read without a daemon."""
    top = os.environ["COPIES"]
    for name in ("flat", "classes", "batch", "tar"):
        copy = os.path.join(top, name)
        os.makedirs(copy)
        with joaderfs.job("images", crop=32, layout=name) as job:
            subprocess.run(["cp", "-r", f"{job.path}/epoch-0000", f"{copy}/epoch"], check=True)
            subprocess.run(["cp", f"{job.path}/classes.txt", copy], check=True)
    once("flat", joaderfs.Dataset(os.path.join(top, "flat/epoch")))
    once("classes", joaderfs.Dataset(os.path.join(top, "classes/epoch")))
    once("tar", joaderfs.IterableDataset(os.path.join(top, "tar/epoch")))
    once("batch", [pair for images, labels in joaderfs.Dataset(os.path.join(top, "batch/epoch"))
                   for pair in zip(images, labels)])
    data = joaderfs.IterableDataset(os.path.join(top, "flat/epoch"))
    rest = iter(data)
    next(rest)
    again = joaderfs.IterableDataset(os.path.join(top, "flat/epoch"))
    again.load_state_dict(data.state_dict())
    assert [digest(image) for image, _ in again] == [digest(image) for image, _ in rest]


def refused(call, text, kind=ValueError):
    try:
        call()
    except kind as error:
        assert text in str(error), f"'{text}' is not in '{error}'"
        return
    raise AssertionError(f"nothing was refused that should say '{text}'")


def jobs():
    """A job exists as long as its block, and has the script's name unless it gets another one."""
    with joaderfs.job("images", crop=16) as a, joaderfs.job("images", crop=16) as b:
        assert (a.name, b.name) == ("python_module", "python_module-2"), (a, b)
        assert sorted(os.listdir("jobs")).count("python_module") == 1
        assert a.status()["samples"] == SAMPLES and a.dataset()[0][0].shape == (16, 16, 3)
    assert not [name for name in os.listdir("jobs") if name.startswith("python_module")]
    try:
        with joaderfs.job("images", name="fails", crop=16):
            raise KeyError
    except KeyError:
        pass
    assert not os.path.exists("jobs/fails")
    for _ in range(2):
        with joaderfs.job("images", name="kept", crop=16, where="label < 2", keep=True) as job:
            assert job.status()["samples"] == 16
    refused(lambda: joaderfs.job("images", name="kept", crop=17, keep=True), "kept",
            joaderfs.Error)
    job.remove()
    with joaderfs.job(template="small", hflip=0.5) as job:
        assert job.name == "small" and "hflip = 0.5\n" in open(f"{job.path}/job.ini").read()
    refused(lambda: joaderfs.job("imagse"), "imagse", joaderfs.Error)
    refused(lambda: joaderfs.job("images", socket="/nowhere"), "no joaderfs answers at /nowhere",
            joaderfs.Error)


def checkpoints():
    """Job.state_dict: samples that were read later are unread again."""
    with joaderfs.job("images", name="checkpoint", crop=32) as job:
        data = job.dataset()
        had = [digest(data[i][0]) for i in range(5)]
        saved = job.state_dict(at="0:2")
        [data[i] for i in range(5, SAMPLES)]
        assert job.status()["consumed"] == SAMPLES
        job.load_state_dict(saved)
        assert job.status()["consumed"] == 2 and job.epoch == 0
        again = job.dataset(epoch=0)
        assert [digest(again[i][0]) for i in range(5)] == had


def ranks():
    """Ranks divide an epoch as the environment says: of 25 files each of two ranks gets 12."""
    names = {"torchrun": ("RANK", "WORLD_SIZE"), "slurm": ("SLURM_PROCID", "SLURM_NTASKS"),
             "lightning": ("LOCAL_RANK", "WORLD_SIZE")}
    for launcher, (rank_name, size_name) in names.items():
        found = []
        for rank in range(2):
            os.environ.update({rank_name: str(rank), size_name: "2"})
            assert joaderfs.ranks() == (rank, 2), launcher
            part = list(joaderfs.IterableDataset("jobs/odd", epoch=0))
            assert len(part) == 12
            found += [digest(image) for image, _ in part]
        assert len(set(found)) == SAMPLES, launcher
        del os.environ[rank_name], os.environ[size_name]
    os.environ.update(RANK="1", WORLD_SIZE="4", LOCAL_WORLD_SIZE="2")
    refused(lambda: joaderfs.IterableDataset("jobs/odd"), "several machines")
    refused(lambda: joaderfs.IterableDataset("jobs/local"), "found rank 1 of 4, allowed: 0 to 1 of 2")
    found = []
    for rank in range(2):
        os.environ.update(RANK=str(rank), WORLD_SIZE="2")
        part = list(joaderfs.IterableDataset("jobs/local", epoch=0))
        assert len(part) == 13 - rank
        found += [digest(image) for image, _ in part]
    assert len(set(found)) == 25
    os.environ.update(RANK="1", WORLD_SIZE="4")
    os.environ["LOCAL_WORLD_SIZE"] = "4"
    refused(lambda: joaderfs.job("images", crop=16), "no name")
    sys.modules["accelerate"] = sys
    refused(lambda: joaderfs.IterableDataset("jobs/odd"), "accelerate")
    assert len(list(joaderfs.IterableDataset("jobs/odd", ranks=None))) == 25
    del sys.modules["accelerate"]
    for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        del os.environ[name]


def together():
    """Ranks share a job, which ends with the last rank."""
    script = ("import joaderfs, sys\n"
              "with joaderfs.job('images', name='shared', crop=16) as job:\n"
              "    print(job.name, flush=True)\n"
              "    sys.stdin.read()\n")
    both = [subprocess.Popen([sys.executable, "-c", script], text=True, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE,
                             env={**os.environ, "RANK": str(rank), "WORLD_SIZE": "2"})
            for rank in range(2)]
    for process in both:
        assert process.stdout.readline() == "shared\n"
    for process, left in zip(both, (True, False)):
        process.communicate("")
        assert process.returncode == 0
        assert os.path.exists("jobs/shared") == left


ALL = expected()
if __name__ == "__main__":
    for case in (documented, keys, formats, mapped, layouts, copies, jobs, checkpoints, ranks,
                 together):
        print(case.__name__, flush=True)
        case()
