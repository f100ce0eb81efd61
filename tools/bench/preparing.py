# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Runs bench-prepare as a part of the bench."""

import json
import os
import subprocess
import sys

from mounted import TOOLS, Failed

COUNT = 200


def prepare(args):
    found = os.path.join(args.out, "prepare.json")
    done = subprocess.run(
        [sys.executable, os.path.join(TOOLS, "bench", "bench-prepare"), "--json", found,
         "--program", os.path.join(os.path.dirname(args.reader), "prepare"),
         "--count", str(min(args.count, COUNT)), "--rounds", str(2 * args.rounds + 1)],
        stdout=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise Failed(f"bench-prepare ended with {done.returncode}")
    with open(found, encoding="utf-8") as file:
        results = json.load(file)["results"]
    rows = [["", "", "us/image", "PIL = 1"]]
    for title, ways in results.items():
        for way, cell in ways.items():
            rows.append([title, way, f"{cell['us']:.0f}", f"{cell['ratio_to_pil']:.2f}"])
            title = ""
    return {"what": "CPU time that preparing one image takes in one thread",
            "table": rows, "results": results, "plots": []}
