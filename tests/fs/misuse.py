# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""misuse.py JOBS CASE...: scripts whose files do not mean what the scripts expect, each for some
epochs, with the functions of scripts.py. A case that is not exact prints the number of wrong
images."""

import errno
import glob
import io
import multiprocessing
import os
import random
import subprocess
import tarfile
import time
from concurrent.futures import ThreadPoolExecutor

import numpy
import PIL.Image
import torch
from torch.utils.data import Dataset, DistributedSampler, RandomSampler, Subset, random_split
from torchvision.datasets import ImageFolder

import scripts
from scripts import SAMPLES, Files, Mixing, current, digest, in_order, loader, read

EPOCHS = range(6 if os.environ.get("JOADERFS_LONG") == "1" else 3)


def complete(passes, expected=None):
    """Checks that each pass had each image once."""
    expected = sorted(in_order() if expected is None else expected)
    assert all(sorted(paths) == expected for paths in passes), \
        f"different images of {len(expected)} in each epoch: {[len(set(p)) for p in passes]}"


def exact(passes, expected=None):
    """Checks this, and that no two passes had the same order."""
    complete(passes, expected)
    orders = len(set(map(str, passes)))
    assert orders == len(passes), f"{orders} orders in {len(passes)} epochs"


def read_pairs(batches):
    """Checks the pairs (image, label) that were read."""
    pairs = [pair for batch in batches for pair in batch]
    wrong = sum(SAMPLES[image][1] != label for image, label in pairs)
    assert wrong == 0, f"{wrong} wrong labels of {len(pairs)}"
    return [SAMPLES[image][0] for image, _ in pairs]


def folder_of(job):
    in_classes = job.endswith(("-classes", "-fixed"))
    return ImageFolder(current(job), digest) if in_classes else Files(current(job))


class Numbered(Dataset):
    """Returns the content of each index."""

    def __init__(self, data):
        self.data = data

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return i, self.data[i]


def sequential():
    for job in "sequential-flat", "sequential-classes":
        batches = loader(Numbered(folder_of(job)), shuffle=True, num_workers=4)
        held = [(i, *sample) for _ in EPOCHS for batch in batches for i, sample in batch]
        wrong = sum(SAMPLES[image] != (in_order()[i], label) for i, image, label in held)
        assert wrong == 0, f"{job}: {wrong} of {len(held)} are not the k-th sample"


def array_passes(pattern):
    for _ in range(50):
        paths = []
        for file in sorted(glob.glob(pattern)):
            if ".labels." not in file:
                with open(file, "rb") as batch:
                    paths += [SAMPLES[digest(PIL.Image.fromarray(image))][0]
                              for image in numpy.load(io.BytesIO(batch.read()))]
        yield paths


def tar_passes(pattern):
    for _ in range(50):
        paths = []
        for file in sorted(glob.glob(pattern)):
            with open(file, "rb") as shard, tarfile.open(fileobj=io.BytesIO(shard.read())) as tar:
                paths += [SAMPLES[digest(PIL.Image.open(tar.extractfile(member)))][0]
                          for member in tar if member.name.endswith(".ppm")]
        yield paths


def tiny_epochs():
    """Reads one, two or three files in an epoch, pass after pass."""
    for passes in (array_passes(current("tiny-one") + "/*.npy"),
                   tar_passes(current("tiny-two") + "/*.tar"),
                   array_passes(current("tiny-three") + "/*.npy")):
        exact(list(passes))
    for n in 1, 2, 3:
        files = Files(current(f"tiny-{n}-flat"))
        complete([read([[file] for file in files]) for _ in range(50)], in_order()[:n])


def tiny_explicit():
    early = 0
    for job in "tiny-explicit", "tiny-numbers-flat":
        for epoch in range(100):
            try:
                view = current(job).replace("current", f"epoch-{epoch:04}")
                paths = glob.glob(view + "/*0.[np]*")
                assert paths, f"{job} has no epoch {epoch}"
                for path in paths:
                    with open(path, "rb") as file:
                        file.read()
            except BlockingIOError:
                early += 1
    assert early == 0, f"EAGAIN in {early} of 200"


def look_at_late_epoch():
    passes, batches = [], loader(Files(current("late-flat")))
    for epoch in range(4):
        paths = []
        for step, batch in enumerate(batches):
            paths += read([batch])
            if epoch == 1 and step == 6:
                late = current("late-flat").replace("current", "epoch-0099/00000000.ppm")
                subprocess.run(["head", "-c", "10", late], start_new_session=True, check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        passes.append(paths)
    exact(passes)


class Lookers:
    """People look at all files, once, as from other terminals and by a file manager."""

    def __init__(self, job):
        self.files = glob.glob(current(job) + "/**/*.ppm", recursive=True)
        self.commands = ["file", *self.files], ["grep", "-r", "nothing", current(job)]

    def thumbnails(self):
        for file in random.sample(self.files, len(self.files)):
            PIL.Image.open(file).thumbnail((16, 16))

    def __enter__(self):
        self.looking = [subprocess.Popen(command, start_new_session=True,
                                         stdout=subprocess.DEVNULL)
                        for command in self.commands]
        self.thumbnailer = os.fork()
        if self.thumbnailer == 0:
            try:
                os.setsid()
                self.thumbnails()
            finally:
                os._exit(0)

    def __exit__(self, *_):
        for process in self.looking:
            process.wait()
        os.waitpid(self.thumbnailer, 0)


def read_beside_lookers(job, batches):
    with Lookers(job):
        return [sample for batch in batches for sample in batch]


def beside_lookers(job):
    batches = loader(folder_of(job), shuffle=True, persistent_workers=True)
    exact([read_pairs([read_beside_lookers(job, batches)]) for _ in EPOCHS])


def looked_flat():
    beside_lookers("looked-flat")


def looked_classes():
    beside_lookers("looked-classes")


def result_of(target, number, results, *arguments):
    try:
        results.put(target(number, *arguments))
    except AssertionError as wrong:
        results.put(wrong)


def in_processes(target, *arguments):
    """Runs target(number, *arguments) in two processes. Returns both results."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    both = [context.Process(target=result_of, args=(target, i, results, *arguments))
            for i in (0, 1)]
    for process in both:
        process.start()
    try:
        found = []
        for _ in both:
            found.append(results.get(timeout=30))
            if isinstance(found[-1], AssertionError):
                raise found[-1]
        return found
    finally:
        for process in both:
            process.kill()


def one_of_two(number, job):
    os.setsid()  # as from another terminal
    torch.manual_seed(number)
    batches = loader(folder_of(job), shuffle=True)
    return [read_pairs(batches) for _ in EPOCHS]


def two_scripts():
    """If the slower script is an epoch behind, it gets the running epoch again, and a notice."""
    for passes in in_processes(one_of_two, "two-classes"):
        complete(passes)


def one_of_refused(number, begun, files):
    os.setsid()
    if number == 1:
        begun.wait()
    passes = []
    try:
        for pause in (0, 0.02) if number == 0 else 4 * [0.001]:
            passes.append(set())
            for file in files:
                with open(file, "rb") as image:
                    passes[-1].add(image.read())
                time.sleep(pause)
                if pause:
                    begun.set()
    except OSError as error:
        return number, error.errno
    return number, [len(given) for given in passes]


def second_refused():
    """second_script = refused: the first script loses nothing."""
    files = Files(current("refused-flat")).files
    begun = multiprocessing.get_context("fork").Event()
    found = dict(in_processes(one_of_refused, begun, files))
    assert found == {0: 2 * [len(files)], 1: errno.EBUSY}, found


def rank(number, job, steps):
    """Rank 1 is ahead of rank 0 by up to 8 of its 18 steps; 2 of these are prefetched."""
    data = folder_of(job)
    part = DistributedSampler(data, num_replicas=2, rank=number)
    batches = loader(data, sampler=part, prefetch_factor=1)
    passes = []
    for epoch in EPOCHS:
        part.set_epoch(epoch)
        passes.append([])
        for batch in batches:
            passes[-1] += read_pairs([batch])
            steps[number] += 1
            least = steps[1] - 6 if number == 1 else min(steps[0] + 6, 18 * len(EPOCHS))
            while steps[1 - number] < least:
                time.sleep(0.001)
    return passes


def ddp_apart(job):
    steps = multiprocessing.get_context("fork").Array("i", 2, lock=False)
    both = in_processes(rank, job, steps)
    exact([first + second for first, second in zip(*both)])


def ddp_flat():
    ddp_apart("ddp-flat")


def ddp_classes():
    ddp_apart("ddp-classes")


def split(job):
    data = folder_of(job)
    train, validation = random_split(data, (len(data) * 5 // 6, len(data) - len(data) * 5 // 6))
    trained, validated = set(), set()
    for _ in EPOCHS:
        trained |= set(read(loader(train, shuffle=True)))
        validated |= set(read(loader(validation)))
    assert not trained & validated, \
        f"{len(trained & validated)} of {len(validated)} validation images were trained on"


def split_flat():
    split("split-flat")


def split_classes():
    split("split-classes")


def split_fixed():
    split("split-fixed")


def folds(job):
    data = folder_of(job)
    for fold in range(3):
        validation = range(fold, len(data), 3)
        train = [i for i in range(len(data)) if i % 3 != fold]
        trained, validated = set(), set()
        for _ in range(2):
            trained |= set(read(loader(Subset(data, train), shuffle=True)))
            validated |= set(read(loader(Subset(data, validation))))
        both = trained & validated
        assert not both, f"{len(both)} of {len(validated)} validation images were trained on"


def folds_by_index():
    folds("folds-classes")


def folds_fixed():
    folds("folds-fixed")


def subset():
    data = Subset(folder_of("subset-flat"), range(0, 160))
    images = set().union(*(read(loader(data, shuffle=True)) for _ in EPOCHS))
    assert len(images) == 160, f"{len(images)} different images in {len(EPOCHS)} epochs, meant 160"


class LabelsFirst(Dataset):
    def __init__(self, job):
        self.files = sorted(glob.glob(current(job) + "/*.ppm"))
        self.labels = []
        for file in self.files:
            with open(file[:-3] + "cls", encoding="ascii") as label:
                self.labels.append(int(label.read()))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return digest(PIL.Image.open(self.files[i])), self.labels[i]


def labels_first(job, **options):
    batches = loader(LabelsFirst(job), **options)
    passes = [[sample for batch in batches for sample in batch] for _ in range(4)]
    wrong = [sum(SAMPLES[image][1] != label for image, label in samples) for samples in passes]
    assert not any(wrong), f"wrong labels of {len(passes[0])} in each epoch: {wrong}"
    exact([[SAMPLES[image][0] for image, _ in samples] for samples in passes])


def labels_drawn():
    labels_first("labels-drawn", shuffle=True)


def labels_fixed():
    labels_first("labels-fixed", shuffle=True)
    labels_first("labels-fixed-in-order", persistent_workers=True)


def mixing(job):
    batches = loader(Mixing(folder_of(job)), shuffle=True)
    passes = []
    for _ in EPOCHS:
        pairs = [pair for batch in batches for pair in batch]
        passes.append(read([[first for first, _ in pairs]]))
        read([[second for _, second in pairs]])
    exact(passes)


def mixing_flat():
    mixing("mixing-flat")


def mixing_classes():
    mixing("mixing-classes")


def mixing_fixed():
    mixing("mixing-fixed")


def name_means_sample(job, samplers):
    """Checks that each name always has the same sample, which no other name has, whatever is
    opened."""
    data = Numbered(folder_of(job))
    held = {}
    for sampler in samplers:
        for batch in loader(data, sampler=sampler(data)):
            for i, (image, _) in batch:
                assert held.setdefault(i, image) == image, f"file {i} has two samples"
    assert len(set(held.values())) == len(held), f"{len(held)} names, fewer samples"


def replaced_fixed():
    look = [lambda data: RandomSampler(data, replacement=True, num_samples=len(data) // 3)]
    whole = [lambda data: RandomSampler(data)]
    name_means_sample("replaced-fixed", (look + whole) * 3)


def padded_fixed():
    ranks = [lambda data, r=r: DistributedSampler(data, 7, r, seed=r) for r in range(7)]
    name_means_sample("padded-fixed", ranks * 2)


def shuffle_persistent():
    batches = loader(Files(current("shuffled-flat")), shuffle=True, persistent_workers=True)
    exact([read(batches) for _ in range(6)])


class TwoReaders(Files):
    """One thread reads the image, and another one its label."""

    readers = None

    def __getitem__(self, i):
        self.readers = self.readers or ThreadPoolExecutor(2)
        image = self.readers.submit(lambda: digest(PIL.Image.open(self.files[i])))
        with open(self.files[i][:-3] + "cls", "rb") as file:
            return image.result(), int(self.readers.submit(file.read).result())


def label_and_image():
    batches = loader(TwoReaders(current("two-readers")), shuffle=True)
    pairs = [pair for _ in EPOCHS for pair in read_beside_lookers("two-readers", batches)]
    wrong = sum(SAMPLES[image][1] != label for image, label in pairs)
    assert wrong == 0, f"{wrong} wrong labels of {len(pairs)}"


def beyond_epochs():
    batches = loader(Files(current("few-flat")))
    exact([read(batches) for _ in range(3)])


def kept_open():
    handles = [open(file, "rb") for file in Files(current("kept-flat")).files]
    passes = []
    for _ in EPOCHS:
        passes.append([])
        for i in torch.randperm(len(handles)).tolist():
            handles[i].seek(0)
            passes[-1].append((i, SAMPLES[digest(PIL.Image.open(io.BytesIO(handles[i].read())))]))
    held = {str(sorted(samples)) for samples in passes}
    assert len(held) == len(passes), f"{len(held)} orders in {len(passes)} epochs"


if __name__ == "__main__":
    scripts.main(globals())
