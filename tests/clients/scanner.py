# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Runs the program scan, which lists a dataset as the daemon does."""

import os
import subprocess


class Scanner:
    def __init__(self, program, top):
        self.log_path = os.path.join(top, "log")
        command = [program, os.path.join(top, "state"), self.log_path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, word, argument=None):
        line = word if argument is None else f"{word} {argument.encode().hex()}"
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        lines = []
        while (answer := self.process.stdout.readline()) not in (b".\n", b""):
            lines.append(answer.decode(errors="surrogateescape").removesuffix("\n"))
        if answer != b".\n":
            raise SystemExit(f"{word} {argument}: scan ended: {self.process.wait()}")
        return lines

    def open(self, path):
        return self.ask("open", path) == ["ok"]

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def end(self):
        self.process.stdin.close()
        if self.process.wait() != 0:
            raise SystemExit(f"scan ended: {self.process.returncode}")
