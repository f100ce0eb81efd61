# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Requests to the daemon, as joaderctl makes them; src/control/control.h has the protocol."""

from __future__ import annotations

import os
import socket as sockets


class Error(Exception):
    """The daemon refuses a request, or none answers; the message says why."""


def default_socket() -> str:
    """$JOADERFS_SOCKET, or where a daemon of this user has its socket."""
    named = os.environ.get("JOADERFS_SOCKET")
    if named:
        return named
    if os.geteuid() == 0:
        return "/run/joaderfs.sock"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if not runtime.startswith("/"):
        state = os.environ.get("XDG_STATE_HOME", "")
        state = state if state.startswith("/") else os.path.expanduser("~/.local/state")
        runtime = os.path.join(state, "joaderfs")
    return os.path.join(runtime, "joaderfs.sock")


def request(*arguments: str, socket: str | None = None) -> str:
    """The daemon's answer; Error: what it refuses."""
    path = socket or default_socket()
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as connection:
        try:
            connection.connect(path)
            try:
                connection.sendall(b"".join(os.fsencode(word) + b"\0" for word in arguments))
                connection.shutdown(sockets.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the daemon says why before it hangs up
            with connection.makefile("rb") as answer:
                return _text(answer, path)
        except OSError as error:
            raise Error(f"no joaderfs answers at {path}: {error.strerror}") from error


def _text(answer, path: str) -> str:
    """Frames are a line and so many bytes: more BYTES ..., and at the end ok or error."""
    text = b""
    while True:
        word, _, size = answer.readline(40).partition(b" ")
        if word not in (b"more", b"ok", b"error") or not size.strip().isdigit():
            raise Error(f"{path}: the answer was cut off")
        part = answer.read(int(size))
        if len(part) < int(size):
            raise Error(f"{path}: the answer was cut off")
        text += part
        if word == b"error":
            raise Error(os.fsdecode(text).strip())
        if word == b"ok":
            return os.fsdecode(text)


def mountpoint(socket: str | None = None) -> str:
    """Where the daemon has mounted its jobs."""
    line = request("top", socket=socket).splitlines()[0]
    escaped = line.rpartition(" mountpoint=")[2]
    return os.fsdecode(os.fsencode(escaped).decode("unicode_escape").encode("latin-1"))


def stats(socket: str | None = None) -> dict[str, int]:
    """The daemon's counters; joaderfs(8) explains each (Counters).

    >>> import joaderfs
    >>> joaderfs.stats()["samples_served"] >= 0
    True
    """
    return {name: int(value) for name, value in
            (line.split() for line in request("stats", socket=socket).splitlines())}
