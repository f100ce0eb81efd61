# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Finds the rank of this process in a training, and its number among a DataLoader's workers."""

from __future__ import annotations

import os
import sys
from typing import NamedTuple

# Variables with the rank and the number of ranks: of torchrun, Slurm, Open MPI and MPICH.
LAUNCHERS = (("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"),
             ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"))
# Variables with the number of ranks on this machine, and with the number of this machine.
LOCAL = ("LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE")
NODES = ("NODE_RANK", "GROUP_RANK", "SLURM_NODEID")


class Ranks(NamedTuple):
    """A rank, counted from 0, and the number of ranks."""
    rank: int
    ranks: int


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None


def ranks() -> Ranks:
    """Returns this process's rank: from torch.distributed if that is initialised, otherwise from
    the environment that torchrun, Lightning, Slurm or an MPI has set. Without these: rank 0 of 1.

    >>> import joaderfs
    >>> joaderfs.ranks()
    Ranks(rank=0, ranks=1)
    """
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        return Ranks(distributed.get_rank(), distributed.get_world_size())
    for rank_name, size_name in LAUNCHERS:
        rank, size = _number(rank_name), _number(size_name)
        if rank is not None and size is not None and rank < size:
            return Ranks(rank, size)
    # Lightning only sets the rank on this machine. With one machine this is the rank.
    local, size = _number("LOCAL_RANK"), _number("WORLD_SIZE")
    if local is not None and size is not None and not _number("NODE_RANK"):
        return Ranks(local, size)
    return Ranks(0, 1)


def several_machines(size: int) -> bool:
    """Tells whether the environment shows that the training has ranks on other machines."""
    local = [_number(name) for name in LOCAL]
    return (any(_number(name) for name in NODES) or
            any(n is not None and n < size for n in local))


def _of_node(found: Ranks, ini: dict[str, str]) -> Ranks:
    """Returns this process's rank among the ranks of the job, which are those of this machine."""
    local = int(ini["local_ranks"])
    first = int(ini.get("node_rank", 0)) * local
    if found.ranks != int(ini["ranks"]) or not first <= found.rank < first + local:
        raise ValueError(
            f"joaderfs.IterableDataset: found rank {found.rank} of {found.ranks}, allowed: {first} "
            f"to {first + local - 1} of {ini['ranks']}, the ranks of this job")
    return Ranks(found.rank - first, local)


def of_environment(ini: dict[str, str]) -> Ranks:
    """Returns this process's part of the job's epochs: its rank among the job's local_ranks if the
    job has them, (0, 1) if the job is for one rank, otherwise its rank in the training. ValueError:
    dividing would be wrong."""
    found = ranks()
    if found.ranks == 1 or ("ranks" in ini and int(ini.get("local_ranks", 1)) == 1):
        return Ranks(0, 1)
    if "accelerate" in sys.modules:
        raise ValueError(
            "joaderfs.IterableDataset: found ranks and accelerate, which divides what an "
            "IterableDataset gives among the ranks itself; allowed: ranks=None, or "
            'ranks="env" in a DataLoader that accelerate does not prepare')
    if "ranks" in ini:
        return _of_node(found, ini)
    if several_machines(found.ranks):
        raise ValueError(
            f"joaderfs.IterableDataset: found {found.ranks} ranks on several machines, whose "
            "daemons have orders of their own; allowed: a job with ranks, local_ranks and "
            "node_rank for each machine, joaderfs-cluster(7)")
    return found


def worker() -> tuple[int, int] | None:
    """Returns (number, workers) of this worker of a DataLoader. None: this process is no worker."""
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data else None
    return (info.id, info.num_workers) if info else None
