# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""IterableDataset: a job's samples in order, divided among ranks and workers."""

from __future__ import annotations

import os
import tarfile
import warnings
from typing import Any, Iterator

import numpy

from ._client import Error
from ._dataset import Samples
from ._job import Job
from ._ranks import Ranks, of_environment, worker

try:
    from torch.utils.data import IterableDataset as Base
except ImportError:
    Base = object  # type: ignore[assignment,misc]

VERSION = 1


class IterableDataset(Samples, Base):  # type: ignore[misc,valid-type]
    """The samples of an epoch in the random order of joaderfs. Each pass reads the next epoch, with
    any number of workers of a DataLoader. For the layouts flat, batch, tar and mirror. Use Dataset
    for layout = classes, which the script shuffles.

    It takes the arguments of Dataset, and
    ranks  "env": each rank (joaderfs.ranks()) reads its part. All ranks read the same number of
           files: the rest of an epoch is left out. None: this process reads all files.
           (rank, ranks): this process reads the part of this rank
    socket the daemon's socket, for load_state_dict

    The workers of a DataLoader divide the rank's files among themselves. There is no len, because
    the number of batches depends on the number of workers; `files` is the number of files of an
    epoch.

    state_dict returns the progress of the pass at any time. load_state_dict continues there, with
    the same samples; torchdata's StatefulDataLoader calls both in each worker. If the job is in
    another epoch now, load_state_dict restores the job. The numbers of ranks and workers must not
    change.

    >>> import joaderfs
    >>> data = joaderfs.IterableDataset("jobs/flat")
    >>> first = [label for image, label in data]
    >>> len(first), sorted(first) == 8 * [0] + 8 * [1] + 8 * [2]
    (24, True)
    >>> second = iter(data)
    >>> a, b = next(second), next(second)
    >>> saved = data.state_dict()
    >>> saved["epoch"], saved["given"]
    (1, 2)
    >>> again = joaderfs.IterableDataset("jobs/flat")
    >>> again.load_state_dict(saved)
    >>> [label for image, label in again] == [label for image, label in second]
    True
    """

    def __init__(self, path: str | os.PathLike[str], *, ranks: Any = "env",
                 socket: str | None = None, **how: Any):
        super().__init__(path, **how)
        if self.layout == "classes":
            raise ValueError("joaderfs.IterableDataset: found layout = classes, whose files come "
                             "class by class; allowed: joaderfs.Dataset with shuffle=True, or "
                             "layout = flat")
        self._ranks = ranks
        self._socket = socket
        self._resume: dict[str, Any] | None = None
        self._state: dict[str, Any] = {"version": VERSION, "epoch": None, "given": 0,
                                       "part": None, "job": None, "done": False}
        self._found_ranks()

    def __getstate__(self) -> dict[str, Any]:
        """Passes the rank to spawned workers, which may not see the environment of this process."""
        return {**self.__dict__, "_ranks": self._found_ranks()}

    @property
    def files(self) -> int:
        """The number of files of an epoch, for all ranks together."""
        return len(self._place.names())

    def _found_ranks(self) -> Ranks:
        if self._ranks == "env":
            return of_environment(self._place.ini)
        return Ranks(*self._ranks) if self._ranks else Ranks(0, 1)

    def _part(self, number: int, workers: int) -> tuple[numpy.ndarray, list[int]]:
        """Returns the files of this worker, and [number of this part, number of parts]."""
        names, (rank, ranks) = self._place.names(), self._found_ranks()
        if self.layout == "tar" and len(names) < ranks:
            raise ValueError(f"joaderfs.IterableDataset: found {len(names)} shards for {ranks} "
                             "ranks; allowed: at least as many, by a smaller shard")
        if "ranks" not in self._place.ini:
            names = names[:len(names) - len(names) % ranks]
        part, parts = rank * workers + number, ranks * workers
        return names[rank::ranks][number::workers], [part, parts]

    # --- a pass --------------------------------------------------------------------------

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        me = worker()
        names, part = self._part(*(me or (0, 1)))
        resume, self._resume = self._resume, None
        epoch, given = self.epoch, 0
        if resume:
            self._check_part(resume, part)
            epoch, given = resume["epoch"], resume["given"]
            if resume["done"] and me is None:  # the saved pass was complete
                epoch, given = (None if epoch is None else epoch + 1), 0
        directory = self._place.directory if epoch is None else self._place.epoch(epoch)
        items = self._items(directory, names, given)
        # Opening the first file chooses the epoch, whose number the state needs.
        first = next(items, None)
        before = self._state
        self._state = {"version": VERSION, "epoch": epoch, "given": given, "part": part,
                       "job": None, "done": False}
        self._note_epoch()
        self._warn_of_same(before, epoch)
        return self._pass(first, items)

    def _pass(self, first: Any, items: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        item = first
        while item is not None:
            self._state["given"] += 1
            yield item
            item = next(items, None)
        self._state["done"] = True

    def _items(self, directory: str, names: numpy.ndarray, given: int) -> Iterator[Any]:
        if self.layout != "tar":
            for name in names[given:]:
                yield self._read(directory, name)
            return
        for name in names:
            given = yield from self._shard(os.path.join(os.fsencode(directory), name), given)

    def _shard(self, path: bytes, skip: int) -> Iterator[Any]:
        """Yields the samples of a shard, without the first `skip` samples. Returns the number of
        samples to skip in the next shard. Only reads the bytes of samples that it yields, so that
        no others are drawn."""
        with open(path, "rb", buffering=0) as file, tarfile.open(fileobj=file) as shard:
            label = image = None
            pair = self._place.pair
            while (member := shard.next()) is not None:
                beside = member.name.rpartition(".")[2]
                second = pair and os.fsencode(member.name).endswith(pair.ending)
                if beside == "cls":
                    label = member
                elif pair and not second and b"." + os.fsencode(beside) not in self._place.beside:
                    image = member  # the second image of the pair follows
                elif second or b"." + os.fsencode(beside) not in self._place.beside:
                    if skip:
                        skip -= 1
                        continue
                    number = int(shard.extractfile(label).read()) if label else -1
                    found, own = self._member(shard, image if second else member, self._parser)
                    if second:
                        found = found, self._member(shard, member, self._second)[0]
                    yield self._finish(found, number if own is None else own)
        return skip

    @staticmethod
    def _member(shard: tarfile.TarFile, member: tarfile.TarInfo, parser: Any) -> Any:
        data = bytearray(shard.extractfile(member).read())
        return parser.parse(numpy.frombuffer(data, numpy.uint8), member.name)

    # --- the progress ---------------------------------------------------------------------

    def _note_epoch(self) -> None:
        """Stores the number of the job's epoch, and the job's checkpoint, in the state."""
        if not self._place.job:
            return
        text = Job(self._place.job).state_dict()["state"]
        self._state["job"] = text
        if self._state["epoch"] is None:
            self._state["epoch"] = int(text.partition("\nepoch ")[2].split()[0])

    def _warn_of_same(self, before: dict[str, Any], asked: int | None) -> None:
        """Warns if the pass reads the same epoch again. joaderfs gives the same epoch after the
        last one of a job, and to a process that reads itself after its workers have read."""
        if (asked is None and before["done"] and before["epoch"] is not None and
                before["epoch"] == self._state["epoch"] and self.layout != "mirror"):
            warnings.warn(f"joaderfs.IterableDataset: this pass is epoch {before['epoch']} once "
                          "more: it is the job's last one, or this process has had workers and "
                          "reads itself now; epoch = N names another one", stacklevel=3)

    def state_dict(self) -> dict[str, Any]:
        """Returns the progress of this pass, as numbers and strings."""
        return dict(self._resume or self._state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Makes the next pass the rest of the saved pass."""
        if state.get("version") != VERSION:
            raise ValueError("joaderfs.IterableDataset: found a state of something else")
        self._resume = dict(state)
        if not state["job"] or not self._place.job or self.layout == "mirror":
            return
        job = Job(self._place.job, socket=self._socket)
        there = job.epoch == state["epoch"]
        if there and state["part"][0] != 0:
            return
        try:
            job.load_state_dict({"state": state["job"], "at": self._at(state)})
        except Error:
            # In the same epoch the files still have the same samples, only not prepared ahead.
            if not there:
                raise

    def _at(self, state: dict[str, Any]) -> str | None:
        """Returns EPOCH:POSITION. All workers together have read all positions before this one."""
        each = {"flat": 1, "batch": int(self._place.ini["batch"])}.get(self.layout)
        if not each or state["done"]:
            return None
        samples = Job(self._place.job or "").status()["samples"]
        at = min(state["given"] * state["part"][1] * each, samples)
        return f"{state['epoch']}:{at}"

    @staticmethod
    def _check_part(state: dict[str, Any], part: list[int]) -> None:
        if state["part"] and list(state["part"]) != list(part):
            raise ValueError(
                "joaderfs.IterableDataset: found a state of part {} of {}, allowed: as many "
                "ranks and workers as then, which is part {} of {} here".format(
                    *state["part"], *part))
