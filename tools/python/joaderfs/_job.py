# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Job: an existing job; job(): adds a job for the duration of a block of code."""

from __future__ import annotations

import difflib
import fcntl
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from ._client import Error, mountpoint, request
from ._ranks import ranks

if TYPE_CHECKING:
    from ._dataset import Dataset
    from ._iterable import IterableDataset

# The keys of a job's ini by their sections: joaderfs.ini(5).
KEYS = {
    "job": "dataset label_table epochs order where weight idle second_script "
           "other_machines script bad_sample keep_epochs ranks rank local_ranks node_rank "
           "training global_batch owner group mode",
    "tensor": "prepare group frames resize filter crop pad fill channels accuracy exif truncated format dtype "
              "axes",
    "augment": "random_crop random_resized_crop hflip normalize seed",
    "view": "layout shard labels mapping batch drop_last json beside text path io size "
            "extension lookahead",
}
SECTIONS = {key: section for section, keys in KEYS.items() for key in keys.split()}


class Job:
    """A job of the daemon, by its directory below the mount.

    >>> import joaderfs
    >>> job = joaderfs.Job("jobs/classes")
    >>> job.name, job.status()["samples"]
    ('classes', 24)

    state_dict and load_state_dict save the job's progress in a checkpoint, and restore it, with the
    same samples at the same positions, for any number of workers and ranks.
    """

    def __init__(self, path: str | os.PathLike[str], *, socket: str | None = None):
        self.path = os.path.realpath(os.fspath(path))
        if not os.path.isfile(os.path.join(self.path, "job.ini")):
            self.path = os.path.dirname(self.path)  # path was an epoch of the job
        if not os.path.isfile(os.path.join(self.path, "job.ini")):
            raise FileNotFoundError(f"{os.fspath(path)}: there is no such job's directory")
        self.name = os.path.basename(self.path)
        self.socket = socket

    def __fspath__(self) -> str:
        return self.path

    def __repr__(self) -> str:
        return f"joaderfs.Job({self.path!r})"

    def dataset(self, **how: Any) -> Dataset:
        """Returns a joaderfs.Dataset of this job."""
        from ._dataset import Dataset
        return Dataset(self.path, **how)

    def iterable(self, **how: Any) -> IterableDataset:
        """Returns a joaderfs.IterableDataset of this job."""
        from ._iterable import IterableDataset
        return IterableDataset(self.path, socket=self.socket, **how)

    def _read(self, name: str) -> str:
        with open(os.path.join(self.path, name), encoding="utf-8",
                  errors="surrogateescape") as file:
            return file.read()

    def status(self) -> dict[str, Any]:
        """Returns the job's file status, with numbers as numbers, and a list of the notices."""
        found: dict[str, Any] = {"notice": []}
        for line in self._read("status").splitlines():
            name, _, text = line.partition(" ")
            if name == "notice":
                found[name].append(text)
            else:
                found[name] = _value(text)
        return found

    @property
    def epoch(self) -> int:
        """The number of the running epoch."""
        return int(self._read("state").partition("\nepoch ")[2].split()[0])

    def state_dict(self, at: str | None = None) -> dict[str, Any]:
        """Returns the progress of the job. at: EPOCH:POSITION up to which the model was trained,
        for a script that reads the positions in order. Loaders read further ahead."""
        return {"state": self._read("state"), "at": at}

    def load_state_dict(self, saved: dict[str, Any]) -> None:
        """Restores the saved progress. Samples that were read later can be read again."""
        request("restore", self.name, saved["state"], *filter(None, [saved.get("at")]),
                socket=self.socket)

    def remove(self) -> None:
        """Removes the job, and the files that the daemon has saved about its epochs."""
        request("rm", self.name, socket=self.socket)


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


class _OwnJob(Job):
    """A job that job() has added, and that the end of the `with` block removes."""

    def __init__(self, path: str, socket: str | None, keep: bool, together: bool):
        super().__init__(path, socket=socket)
        self._keep = keep
        self._process = os.getpid()
        self._users = _Users(self.path) if together and not keep else None

    def __enter__(self) -> _OwnJob:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._keep or os.getpid() != self._process:
            return
        if not self._users or self._users.leave():
            self.remove()


class _Users:
    """Tells the last process of a training that uses a job that it is the last one. Each process
    has a shared lock on the same file. The kernel releases the lock of a process that dies, and
    children do not inherit it."""

    def __init__(self, path: str):
        name = re.sub(r"[^A-Za-z0-9._-]", "-", f"joaderfs-{os.geteuid()}{path}")
        self.file = os.open(os.path.join(tempfile.gettempdir(), name[-200:]),
                            os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.lockf(self.file, fcntl.LOCK_SH)

    def leave(self) -> bool:
        """Releases this process's lock. Returns whether this process was the last one."""
        fcntl.lockf(self.file, fcntl.LOCK_UN)
        try:
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(self.file)
        return True


def job(dataset: Any = None, *, name: str | None = None, file: str | None = None,
        template: str | None = None, socket: str | None = None, keep: bool = False,
        **keys: Any) -> _OwnJob:
    """Adds a job to the running daemon. The end of the with block removes the job.

    dataset   a dataset of the daemon; {"photos": 3, "sketches": 1}: a mixture
    name      the job's name; None: the script's name. If the name is taken, NAME-2 and so on
    file, template   the path of a job's ini, or a template of the daemon; keys change some keys
    keep      the job is not removed, and an equal job of this name is used again: for a training
              that is started again
    keys      all keys of a job's ini, joaderfs.ini(5): resize=256, crop=(width, height),
              json=True, normalize=(mean, std)

    The ranks of a training on one machine call job() with the same name, and share one job. The
    last of these processes removes it.

    >>> import joaderfs
    >>> with joaderfs.job("images", name="mine", crop=16, layout="classes") as job:
    ...     image, label = job.dataset()[0]
    >>> image.shape
    (16, 16, 3)
    >>> joaderfs.job("images", cropp=16)
    Traceback (most recent call last):
    TypeError: joaderfs.job: found cropp, allowed: a key of a job's ini; did you mean crop?
    """
    settings = {} if dataset is None else {"job.dataset": _text("dataset", dataset)}
    for key, value in keys.items():
        if key not in SECTIONS:
            near = difflib.get_close_matches(key, SECTIONS, 1)
            raise TypeError(f"joaderfs.job: found {key}, allowed: a key of a job's ini" +
                            (f"; did you mean {near[0]}?" if near else ""))
        if value is not None:
            settings[f"{SECTIONS[key]}.{key}"] = _text(key, value)
    together = ranks().ranks > 1
    if together and not name:
        raise ValueError("joaderfs.job: found several ranks and no name, allowed: the same name "
                         "in each of them")
    if name or not (file or template):
        settings["job.name"] = name or _name_of_script()
    own = [] if keep or together else ["--own-name"]
    what = _source(file, template)
    changed = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    answer = request("add", *own, *(what if template else []), *changed,
                     *([] if template else what), socket=socket)
    return _OwnJob(_path(answer, bool(own), socket), socket, keep, together)


def _source(file: str | None, template: str | None) -> list[str]:
    if file and template:
        raise TypeError("joaderfs.job: found file and template, allowed: one of both")
    if template:
        return ["--template", template]
    if not file:
        return ["joaderfs.job", "[job]\n"]
    with open(file, encoding="utf-8", errors="surrogateescape") as text:
        return [os.path.abspath(file), text.read()]


def _path(answer: str, own: bool, socket: str | None) -> str:
    for line in answer.splitlines():
        if own and "\t" in line:
            return line.split("\t", 1)[1]
        said = re.fullmatch(r"added (\S+)|(\S+) is there already", line)
        if said:
            return os.path.join(mountpoint(socket), "jobs", said[1] or said[2])
    raise Error(f"joaderfs.job: the daemon did not say where the job is: {answer}")


def _name_of_script() -> str:
    script = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    return re.sub(r"[^A-Za-z0-9._-]", "-", script).lstrip(".-")[:50] or "python"


def _text(key: str, value: Any) -> str:
    """Returns the value of a key as the ini spells it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return " ".join(f"{name}:{weight}" for name, weight in value.items())
    if key == "normalize" and not isinstance(value, str):
        return " / ".join(" ".join(map(str, part)) for part in value)
    if isinstance(value, (list, tuple)):
        return ("x" if SECTIONS[key] in ("tensor", "augment") else " ").join(map(str, value))
    return str(value)
