# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""scripts.py JOBS CASE...: runs training scripts of the kinds in the table of joaderfs-readers(7),
each in its own process, for some epochs. Their samples are compared with the dataset; the job
`all` with layout = mirror shows which sample an image is. Prints the cases that succeeded."""

import collections
import csv
import glob
import hashlib
import io
import multiprocessing
import os
import sys
import tarfile

import PIL.Image
import torch
from torch.utils.data import (DataLoader, Dataset, DistributedSampler, IterableDataset, Subset,
                              WeightedRandomSampler, get_worker_info, random_split)
from torchvision.datasets import ImageFolder

EPOCHS = range(4 if os.environ.get("JOADERFS_LONG") == "1" else 2)
JOBS = sys.argv[1]
SAMPLES = {}


def digest(image):
    return hashlib.sha1(image.convert("RGB").tobytes()).hexdigest()


def current(job):
    return os.path.join(JOBS, job, "current")


def all_samples():
    folder = ImageFolder(current("all"), digest)
    samples = [(os.path.relpath(path, current("all")), label) for path, label in folder.samples]
    found = {folder[i][0]: sample for i, sample in enumerate(samples)}
    assert len(found) == len(samples), "some images are equal"
    return found


def loader(data, **options):
    options = {"batch_size": 7, "num_workers": 2, "collate_fn": list, **options}
    return DataLoader(data, **options)


def read(batches):
    """The paths of the samples, after a comparison of the labels."""
    paths = []
    for batch in batches:
        for image, label in batch:
            path, expected = SAMPLES[image]
            assert int(label) == expected, f"{path} has label {label}"
            paths.append(path)
    return paths


def each_once(paths, expected=None):
    expected = sorted(path for path, _ in SAMPLES.values()) if expected is None else expected
    assert sorted(paths) == sorted(expected), \
        f"{len(set(paths))} different of {len(paths)}, not {len(expected)}"


def in_order():
    return [path for path, _ in SAMPLES.values()]


class Files(Dataset):
    """Images in the order of their names, with labels beside them."""

    def __init__(self, directory):
        self.files = sorted(glob.glob(directory + "/*.ppm"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        with open(self.files[i][:-3] + "cls", encoding="ascii") as label:
            return digest(PIL.Image.open(self.files[i])), int(label.read())


class Stream(IterableDataset):
    """The worker's part of the files."""

    def __init__(self, pattern, samples_of):
        self.files, self.samples_of = sorted(glob.glob(pattern)), samples_of

    def __iter__(self):
        worker = get_worker_info()
        for file in self.files[worker.id::worker.num_workers]:
            yield from self.samples_of(file)


def of_image(file):
    with open(file[:-3] + "cls", encoding="ascii") as label:
        yield digest(PIL.Image.open(file)), int(label.read())


def of_shard(file):
    with tarfile.open(file, "r|") as tar:
        label = None
        for member in tar:
            data = tar.extractfile(member).read()
            if member.name.endswith(".cls"):
                label = int(data)
            else:
                yield digest(PIL.Image.open(io.BytesIO(data))), label


def shuffle():
    batches = loader(ImageFolder(current("shuffle"), digest), shuffle=True)
    for _ in EPOCHS:
        each_once(read(batches))


def names():
    batches = loader(Files(current("names")))
    orders = [read(batches) for _ in EPOCHS]
    for order in orders:
        each_once(order)
    assert orders[0] != orders[1]


def sampler():
    """Reads classes in turn, as samplers for balanced batches do."""
    folder = ImageFolder(current("sampler"), digest)
    by_class = [[i for i, (_, label) in enumerate(folder.samples) if label == c]
                for c in range(len(folder.classes))]
    for epoch in EPOCHS:
        torch.manual_seed(epoch)
        mixed = [[c[i] for i in torch.randperm(len(c))] for c in by_class]
        each_once(read(loader(folder, sampler=[i for turn in zip(*mixed) for i in turn])))


def persistent():
    classes = loader(ImageFolder(current("persistent"), digest), shuffle=True,
                     persistent_workers=True)
    flat = loader(Files(current("persistent-flat")), persistent_workers=True)
    for batches in classes, flat:
        for _ in EPOCHS:
            each_once(read(batches))


def drop_last():
    for data, options in ((ImageFolder(current("drop-last"), digest), {"shuffle": True}),
                          (Files(current("drop-last-flat")), {})):
        batches = loader(data, drop_last=True, **options)
        for _ in EPOCHS:
            paths = read(batches)
            assert len(set(paths)) == len(paths) == len(data) - len(data) % 7


def iterable():
    for job, pattern, samples_of in (("iterable", "*.ppm", of_image),
                                     ("iterable-tar", "*.tar", of_shard)):
        batches = loader(Stream(os.path.join(current(job), pattern), samples_of))
        for _ in EPOCHS:
            each_once(read(batches))


def sanity():
    train = loader(ImageFolder(current("sanity"), digest), shuffle=True)
    validation = loader(ImageFolder(current("sanity-val"), digest))
    first = read(batch for _, batch in zip(range(2), validation))
    for _ in EPOCHS:
        each_once(read(train))
        assert read(validation) == in_order()
    assert first == in_order()[:14]


def evaluation():
    train = loader(ImageFolder(current("evaluation"), digest), shuffle=True)
    validation = loader(ImageFolder(current("evaluation-val"), digest))
    for _ in EPOCHS:
        paths = []
        for step, batch in enumerate(train):
            paths += read([batch])
            if step % 6 == 5:
                assert read(validation) == in_order()
        each_once(paths)


def ddp_rank(rank, barrier, results):
    folder = ImageFolder(current("ddp"), digest)
    part = DistributedSampler(folder, num_replicas=2, rank=rank)
    batches = loader(folder, sampler=part)
    for epoch in EPOCHS:
        part.set_epoch(epoch)
        paths = []
        for batch in batches:
            paths += read([batch])
            barrier.wait()  # as when gradients are summed
        results.put((epoch, paths))
        barrier.wait()


def ddp():
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(2), context.Queue()
    ranks = [context.Process(target=ddp_rank, args=(rank, barrier, results)) for rank in (0, 1)]
    for rank in ranks:
        rank.start()
    found = collections.defaultdict(list)
    for _ in range(2 * len(EPOCHS)):
        epoch, paths = results.get(timeout=60)
        found[epoch] += paths
    for rank in ranks:
        rank.join()
    for epoch in EPOCHS:
        each_once(found[epoch])


def folds():
    parts = [loader(ImageFolder(current(job), digest), shuffle=job == "fold")
             for job in ("fold", "fold-val")]
    found = [[read(part) for part in parts] for _ in EPOCHS]
    for train, validation in found:
        each_once(train + validation)
        assert validation == found[0][1] and 4 < len(validation) < 24


def split_by_index(job="split"):
    folder = ImageFolder(current(job), digest)
    train, validation = random_split(folder, (50, 10))
    subset = Subset(folder, list(range(0, len(folder), 3)))
    for _ in EPOCHS:
        each_once(read(loader(train, shuffle=True)) + read(loader(validation)))
        each_once(read(loader(subset)), in_order()[::3])


def split_of_positions():
    """Layout classes, where all samples fit into the cache."""
    split_by_index("split-classes")


def mixup_in_batch():
    batches = loader(ImageFolder(current("cutmix"), digest), shuffle=True)
    for _ in EPOCHS:
        paths = []
        for batch in batches:
            paths += read([batch])
            read([[batch[i] for i in torch.randperm(len(batch))]])
        each_once(paths)


class Mixing(Dataset):
    def __init__(self, folder):
        self.folder = folder

    def __len__(self):
        return len(self.folder)

    def __getitem__(self, i):
        other = int(torch.randint(len(self.folder), (1,)))
        return self.folder[i], self.folder[other]


def mixup_of_files():
    batches = loader(Mixing(ImageFolder(current("mixup"), digest)), shuffle=True)
    for _ in EPOCHS:
        pairs = [pair for batch in batches for pair in batch]
        each_once(read([[first for first, _ in pairs]]))
        read([[second for _, second in pairs]])


def weighted():
    folder = ImageFolder(current("weighted"), digest)
    weights = [1 + i % 3 for i in range(len(folder))]
    for _ in EPOCHS:
        drawn = list(WeightedRandomSampler(weights, len(folder), replacement=True))
        assert read(loader(folder, sampler=drawn)) == [in_order()[i] for i in drawn]


def labels_once():
    """The labels are read before the images, and used with them."""
    for job in "labels", "labels-mirror":
        folder = ImageFolder(current(job), digest)
        labels = list(folder.targets)
        images = loader([path for path, _ in folder.samples], shuffle=False, num_workers=0)
        for _ in EPOCHS:
            paths = [path for batch in images for path in batch]
            each_once(read([[(digest(PIL.Image.open(path)), label)
                             for path, label in zip(paths, labels)]]))
    files = Files(current("labels-fixed")).files
    labels = [open(file[:-3] + "cls", encoding="ascii").read() for file in files]
    for _ in EPOCHS:
        each_once(read([[(digest(PIL.Image.open(file)), label)
                         for file, label in zip(files, labels)]]))


def list_of_names():
    with open(os.path.join(JOBS, "..", "..", "list.csv"), encoding="ascii") as file:
        rows = list(csv.reader(file))
    for _ in EPOCHS:
        found = [SAMPLES[digest(PIL.Image.open(os.path.join(current("list"), name)))]
                 for name, _ in rows]
        assert found == [(name, int(label)) for name, label in rows]


def in_memory():
    kept = {}
    folder = ImageFolder(current("memory"), digest)
    for _ in EPOCHS:
        for i in torch.randperm(len(folder)).tolist():
            kept.setdefault(i, folder[i])
    assert [SAMPLES[kept[i][0]][0] for i in range(len(folder))] == in_order()
    files = [open(path, "rb") for path, _ in folder.samples]
    for _ in EPOCHS:
        for file, path in zip(files, in_order()):
            file.seek(0)
            assert SAMPLES[digest(PIL.Image.open(io.BytesIO(file.read())))][0] == path


def main(cases):
    SAMPLES.update(all_samples())
    for case in sys.argv[2:]:
        child = os.fork()
        if child == 0:
            os.setsid()
            torch.manual_seed(1)
            try:
                cases[case]()
            except AssertionError as wrong:
                sys.exit(f"{case}: {wrong}")
            return
        if os.waitpid(child, 0)[1] == 0:
            print(case, flush=True)


if __name__ == "__main__":
    main(globals())
