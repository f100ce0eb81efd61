# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Downloads and unpacks the data of Debian packages, without installing them."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile


def cache_directory():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(home, "joaderfs")


def apt(arguments, cwd, lists=None):
    """Returns the command apt-get with private package lists, which needs no root."""
    options = ["-qq", "-o", "APT::Sandbox::User=" + ("root" if os.geteuid() == 0 else "")]
    if lists:
        os.makedirs(os.path.join(lists, "lists/partial"), exist_ok=True)
        os.makedirs(os.path.join(lists, "cache/archives/partial"), exist_ok=True)
        options += ["-o", f"Dir::State::Lists={lists}/lists", "-o", f"Dir::Cache={lists}/cache"]
    return subprocess.run(["apt-get", *options, *arguments], cwd=cwd, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def download(package, directory, instead):
    program = os.path.basename(sys.argv[0])
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        sys.exit(f"{program}: the images come from a Debian package, and there is no "
                 f"apt-get here; {instead}")
    done = apt(["download", package], directory)
    if done.returncode != 0:
        lists = os.path.join(directory, "apt")
        apt(["update"], directory, lists)
        done = apt(["download", package], directory, lists)
    packages = glob.glob(os.path.join(directory, package + "_*.deb"))
    if done.returncode != 0 or not packages:
        sys.exit(f"{program}: apt-get download {package} failed:\n{done.stdout}\n"
                 f"without it: {instead}")
    return packages[0]


def unpacked(package, part, size, cache, instead):
    """Returns the directory `part` of the package, which is downloaded once, to `cache`."""
    target = os.path.join(cache, package)
    if not os.path.isdir(target):
        print(f"{os.path.basename(sys.argv[0])}: downloading {package} ({size}), kept in {cache}",
              file=sys.stderr)
        os.makedirs(cache, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as directory:
            tree = os.path.join(directory, "tree")
            subprocess.run(["dpkg-deb", "-x", download(package, directory, instead), tree],
                           check=True)
            os.rename(os.path.join(tree, part), target)
    return target
