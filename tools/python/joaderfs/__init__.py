# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""joaderfs from Python: datasets, jobs and counters of a running joaderfs.

It is a convenience: all of it is done by reading files below the mount, and by what joaderctl
says to the daemon. It needs numpy; with torch, IterableDataset is one of torch's, and images can
be tensors.

    with joaderfs.job("photos", resize=256, layout="classes") as job:
        data = job.dataset(output="pil", transform=my_transform)
        loader = DataLoader(data, 256, shuffle=True, num_workers=4)

The examples in this module run in a mount with jobs called flat, classes, batch and record:

>>> import joaderfs
>>> data = joaderfs.Dataset("jobs/classes")
>>> image, label = data[0]
>>> image.shape, image.dtype, data.classes[label]
((32, 32, 3), dtype('uint8'), 'class0')

Dataset          a job's samples by index, for a DataLoader with shuffle or a sampler
IterableDataset  a job's samples in their order, divided among ranks and workers
job, Job         a job that lasts as long as a block of code; one that is there
ranks            which rank of a training this process is
stats            the daemon's counters
worker_init      for DataLoader(worker_init_fn=)
Error            what the daemon refuses
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._client import Error, stats
from ._dataset import Dataset, worker_init
from ._job import Job, job
from ._ranks import Ranks, ranks

if TYPE_CHECKING:
    from ._iterable import IterableDataset

__all__ = ["Dataset", "Error", "IterableDataset", "Job", "Ranks", "job", "ranks", "stats",
           "worker_init"]


def __getattr__(name: str) -> Any:
    """Loads torch, if it is there, when IterableDataset is used."""
    if name == "IterableDataset":
        from ._iterable import IterableDataset
        return IterableDataset
    raise AttributeError(f"module 'joaderfs' has no attribute {name!r}")
