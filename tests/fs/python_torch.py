# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""python_torch.py: checks the samples that torch's DataLoader, and loops like those of Lightning,
Accelerate and torchdata's StatefulDataLoader, get from tools/python/joaderfs. The current
directory is a mount."""

import warnings

import numpy
import torch
from torch.utils.data import (BatchSampler, DataLoader, DistributedSampler, IterableDataset,
                              RandomSampler, get_worker_info)

import joaderfs
from python_module import ALL, SAMPLES, digest, once, refused


def flat(batches):
    """(image, label) of batches of tensors, whose channels come last as in the files."""
    return [(image.permute(1, 2, 0), label) for images, labels in batches
            for image, label in zip(images, labels)]


def loaders():
    """With forked and spawned workers, persistent or not: each epoch has each sample once."""
    mapped = joaderfs.Dataset("jobs/classes", output="torch")
    ordered = joaderfs.IterableDataset("jobs/flat", output="torch")
    for start, keep in (("fork", False), ("spawn", True)):
        how = {"batch_size": 5, "num_workers": 2, "multiprocessing_context": start,
               "persistent_workers": keep, "worker_init_fn": joaderfs.worker_init}
        by_index = DataLoader(mapped, shuffle=True, **how)
        in_order = DataLoader(ordered, **how)
        for epoch in range(2):
            once(f"{start}, by index, epoch {epoch}", flat(by_index))
            once(f"{start}, in order, epoch {epoch}", flat(in_order))
    once("without workers", flat(DataLoader(ordered, 5)))
    once("PIL", [(image.permute(1, 2, 0), label) for image, label in joaderfs.Dataset(
        "jobs/classes", output="pil", transform=lambda image: torch.from_numpy(
            numpy.array(image)).permute(2, 0, 1))])


def tensors():
    """A tensor of a batch is the mapped file."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        images, labels = next(iter(DataLoader(joaderfs.Dataset("jobs/batch", output="torch"),
                                              batch_size=None)))
    assert images.shape == (8, 3, 32, 32) and labels.dtype == torch.int64
    address = images.data_ptr()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        assert any(int(line.split("-")[0], 16) <= address < int(line.split("-")[1].split()[0], 16)
                   for line in maps if "batch-000000.npy" in line)


def looks():
    """A process that has had workers, and now reads by itself, gets a message that it reads the
    same samples again."""
    with joaderfs.job("images", name="looks", crop=32) as job, \
            warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        data = job.iterable()
        epochs = []
        for _ in range(2):
            once("looks", data)
            epochs.append(data.state_dict()["epoch"])
    assert (epochs == [0, 0]) == any("once more" in str(one.message) for one in said), epochs


def pinned():
    """Files are read into pinned memory if there is CUDA; otherwise there is a warning."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        joaderfs.Dataset("jobs/flat", pin_memory=True)
    assert torch.cuda.is_available() or "nothing is pinned" in str(said[0].message)
    available, empty, asked = torch.cuda.is_available, torch.empty, []

    def noting(*size, pin_memory=False, **how):
        asked.append(pin_memory)
        return empty(*size, **how)
    torch.cuda.is_available, torch.empty = lambda: True, noting
    try:
        once("pinned", joaderfs.Dataset("jobs/classes", pin_memory=True))
        joaderfs.Dataset("jobs/batch", pin_memory=True)[0]
    finally:
        torch.cuda.is_available, torch.empty = available, empty
    assert asked == (SAMPLES + 1) * [True]


class Draws(IterableDataset):
    def __iter__(self):
        yield int(numpy.random.randint(2 ** 31))


def seeds():
    """numpy draws other random numbers in each worker and each epoch."""
    loader = DataLoader(Draws(), batch_size=None, num_workers=2,
                        worker_init_fn=joaderfs.worker_init)
    assert len({number for _ in range(2) for number in loader}) == 4


# --- loops of other libraries ----------------------------------------------------------------


def lightning():
    """Two batches of the validation first, one prefetched batch, a validation after each epoch,
    and a DistributedSampler in each of two ranks."""
    def fetched(loader, most=None):
        batches, last = iter(loader), []
        for number, batch in enumerate(batches):
            if number == most:
                break
            last.append(batch)
            if len(last) > 1:
                yield last.pop(0)
        yield from last
    with joaderfs.job("images", name="val", crop=32, layout="classes", order="sequential") as val:
        validation = DataLoader(val.dataset(output="torch"), 6, num_workers=1)
        list(fetched(validation, 2))
        ordered = DataLoader(joaderfs.IterableDataset("jobs/flat", output="torch"), 6,
                             num_workers=1)
        data = joaderfs.Dataset("jobs/classes", output="torch")
        both = [DistributedSampler(data, 2, rank) for rank in range(2)]
        trains = [DataLoader(data, 6, sampler=sampler, num_workers=1) for sampler in both]
        for epoch in range(2):
            once("train", flat(fetched(ordered)))
            for sampler in both:
                sampler.set_epoch(epoch)
            once("ranks", flat(batch for pair in zip(*map(fetched, trains)) for batch in pair))
            once("validation", flat(fetched(validation)))


def accelerate():
    """Each process takes its batches of a common shuffle. The first process sends iterated samples
    to the others."""
    data = joaderfs.Dataset("jobs/classes", output="torch")

    class Shard:
        def __init__(self, process, seed):
            generator = torch.Generator().manual_seed(seed)
            self.batches = BatchSampler(RandomSampler(data, generator=generator), 4, False)
            self.process = process

        def __iter__(self):
            return (batch for i, batch in enumerate(self.batches) if i % 2 == self.process)
    ordered = DataLoader(joaderfs.IterableDataset("jobs/flat", output="torch", ranks=None), 4)
    for epoch in range(2):
        pair = [DataLoader(data, batch_sampler=Shard(process, epoch), num_workers=1)
                for process in range(2)]
        once("shards", flat(batch for both in zip(*pair) for batch in both))
        once("dispatched", flat((images[half], labels[half]) for images, labels in ordered
                                for half in (slice(0, 2), slice(2, 4))))


class Stateful(IterableDataset):
    """The calls of a StatefulDataLoader's worker: a state is loaded before the iteration, and
    saved at its begin, with each item, and at its end."""

    def __init__(self, data, states=None):
        self.data, self.states = data, states

    def __iter__(self):
        number = get_worker_info().id if get_worker_info() else 0
        if self.states:
            self.data.load_state_dict(self.states[number])
        items = iter(self.data)
        yield number, self.data.state_dict(), None
        for item in items:
            yield number, self.data.state_dict(), item
        yield number, self.data.state_dict(), None


def a_pass(data, workers, states, most=None):
    """Items up to a given number, and the states of the workers at that time."""
    now, found = {}, []
    for number, state, item in DataLoader(Stateful(data, states), None, num_workers=workers,
                                          collate_fn=list):
        now[number] = state
        if item is not None:
            found.append((digest(item[0]), str(item[1])))
            if len(found) == most:
                break
    return found, now


def stateful():
    """A training that stops after any batch, or went on long after its checkpoint, continues with
    the rest of the epoch as it would have. The next pass is the next epoch."""
    layouts = {"flat": {}, "batch": {"batch": 1, "format": "npy"}, "tar": {"shard": 4},
               "mirror": {}}
    # Without workers first, because a process that has had workers gets only looks when it reads
    # by itself.
    for workers, stop in ((0, 7), (2, 1), (2, 11), (2, SAMPLES)):
        for layout, how in layouts.items():
            with joaderfs.job("images", name="stateful", crop=32, layout=layout, **how) as job:
                def new():
                    return job.iterable()
                a_pass(new(), workers, None)
                all_given, _ = a_pass(new(), workers, None)
                first = new()
                given, states = a_pass(first, workers, None, stop)
                epoch = 0 if layout == "mirror" else 2
                assert {state["epoch"] for state in states.values()} == {epoch}, (layout, workers, stop, states)
                a_pass(new(), workers, None)  # the training went on
                rest, _ = a_pass(new(), workers, states)
                what = f"{layout}, {workers} workers, stopped after {stop}"
                if workers == 0 or stop < SAMPLES:
                    assert len(given) + len(rest) == SAMPLES, what
                assert len(set(given + rest)) == SAMPLES, what
                again, _ = a_pass(new(), workers, None)
                assert len(set(again)) == SAMPLES, what
                assert len(set(all_given)) == SAMPLES, what
    refused(lambda: list(a_pass(joaderfs.IterableDataset("jobs/flat"), 0,
                                {0: {**states[0], "job": None}})),
            "part 0 of 2")


if __name__ == "__main__":
    torch.set_num_threads(1)
    for case in (stateful, loaders, looks, tensors, pinned, seeds, lightning, accelerate):
        print(case.__name__, flush=True)
        case()
    assert ALL
