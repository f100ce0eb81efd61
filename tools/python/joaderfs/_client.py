# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Sends requests to the daemon, like joaderctl; src/control/control.h has the protocol."""

from __future__ import annotations

import os
import socket as sockets


class Error(Exception):
    """The daemon has refused a request, or no daemon answers; the message tells the reason."""


def default_socket() -> str:
    """Returns $JOADERFS_SOCKET, or the default socket of this user's daemon."""
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
    """Sends a request, and returns the daemon's answer. Raises Error if the daemon refuses."""
    path = socket or default_socket()
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as connection:
        try:
            connection.connect(path)
            try:
                connection.sendall(b"".join(os.fsencode(word) + b"\0" for word in arguments))
                connection.shutdown(sockets.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the daemon has sent the reason before it hung up
            with connection.makefile("rb") as answer:
                return _text(answer, path)
        except OSError as error:
            raise Error(f"no joaderfs answers at {path}: {error.strerror}") from error


def _text(answer, path: str) -> str:
    """Returns the text of an answer. It consists of frames: a line "more BYTES" and the bytes; the
    line of the last frame is "ok BYTES" or "error BYTES"."""
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
    """Returns the directory on which the daemon is mounted."""
    line = request("top", socket=socket).splitlines()[0]
    escaped = line.rpartition(" mountpoint=")[2]
    return os.fsdecode(os.fsencode(escaped).decode("unicode_escape").encode("latin-1"))


def stats(socket: str | None = None) -> dict[str, int]:
    """Returns the daemon's counters; joaderfs(8), Counters, explains them.

    >>> import joaderfs
    >>> joaderfs.stats()["samples_served"] >= 0
    True
    """
    return {name: int(value) for name, value in
            (line.split() for line in request("stats", socket=socket).splitlines())}
