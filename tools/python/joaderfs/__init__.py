# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""joaderfs from Python: datasets, jobs and counters of a running joaderfs.

The module is a convenience: it only reads files below the mount, and sends the same requests as
joaderctl. It needs numpy. If torch is installed, IterableDataset is a subclass of torch's, and
images can be tensors.

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
job, Job         job: adds a job for the duration of a block of code; Job: an existing job
ranks            which rank of a training this process is
stats            the daemon's counters
worker_init      seeds the workers: DataLoader(worker_init_fn=joaderfs.worker_init)
Error            the daemon has refused a request, or does not answer
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
    """Imports IterableDataset, and with it torch if installed, only when it is used."""
    if name == "IterableDataset":
        from ._iterable import IterableDataset
        return IterableDataset
    raise AttributeError(f"module 'joaderfs' has no attribute {name!r}")
