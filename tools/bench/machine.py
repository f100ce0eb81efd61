# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Describes the machine on which the figures were measured."""

import os
import platform


def field(path, key):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    return "?"


def machine():
    return {"cpu": field("/proc/cpuinfo", "model name"),
            "cpus": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(field("/proc/meminfo", "MemTotal").split()[0]) / 2**20, 1),
            "kernel": platform.release()}
