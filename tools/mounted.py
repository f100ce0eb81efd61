# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Runs a joaderfs daemon in a temporary directory, and readers as processes. Used by tools/demo and
tools/bench/bench."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOOLS = os.path.dirname(os.path.abspath(__file__))
READER = os.path.join(TOOLS, "demo-reader.py")
IMAGES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class Failed(Exception):
    """An error whose text is printed for the user, without a trace."""


def dataset_paths(directory, classes=None):
    """Returns the absolute paths of the images of an ImageFolder, only of the first `classes`."""
    names = sorted(e.name for e in os.scandir(directory) if e.is_dir())
    found = []
    for name in names[:classes]:
        for top, _, files in os.walk(os.path.join(directory, name), followlinks=True):
            found += [os.path.join(top, f) for f in files if f.lower().endswith(IMAGES)]
    return found


def ini_text(sections):
    """Returns the text of an ini. Leaves out keys whose value is None or 0."""
    return "".join(f"[{section}]\n" + "".join(f"{key} = {value}\n"
                                              for key, value in keys.items() if value)
                   for section, keys in sections.items())


def job_ini(name, resize=256, crop=224, tensor=None, view=None, **job):
    return ini_text({"job": {"name": name, "dataset": "photos", "epochs": 1, **job},
                     "tensor": {"resize": resize, "crop": crop, "format": "ppm",
                                **(tensor or {})},
                     "view": view or {}})


def proc_bytes(path, key):
    """Returns the bytes of the line "key: N kB" of a file in /proc."""
    with open(path, encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key + ":")) * 1024


def signals_end_it(number, _):
    raise KeyboardInterrupt(number)


class Daemon:
    """A joaderfs that is mounted inside a `with` block."""

    def __init__(self, program, dataset, jobs, cache, source=None, inside=(), cluster=None,
                 **options):
        """dataset: the directory of "photos", or directories by name; source: the daemon reads
        this one instead, with the same images; jobs: an ini for each name; inside: a command that
        runs the daemon; cluster: keys of [cluster]; options: more keys of [joaderfs]."""
        self.program, self.dataset, self.jobs, self.cache = program, dataset, jobs, cache
        self.source = source
        self.inside, self.cluster = list(inside), cluster
        self.options = options
        self.process = None

    def __enter__(self):
        signal.signal(signal.SIGTERM, signals_end_it)
        self.top = tempfile.mkdtemp(prefix="joaderfs-")
        self.mount = os.path.join(self.top, "mnt")
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        for name in ("mnt", "state", "jobs.d"):
            os.mkdir(os.path.join(self.top, name))
        datasets = self.dataset if isinstance(self.dataset, dict) else {
            "photos": self.source or self.dataset}
        self._write("joaderfs.ini", ini_text({
            "joaderfs": {"cache": self.cache, "state": f"{self.top}/state", "jobs": "jobs.d",
                         "socket": f"{self.top}/socket", "seed": 1, **self.options},
            **{f"dataset {name}": {"path": path} for name, path in datasets.items()},
            **({"cluster": self.cluster} if self.cluster else {})}))
        for name, text in self.jobs.items():
            self._write(f"jobs.d/{name}.ini", text)
        with open(os.path.join(self.top, "log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*self.inside, self.program, os.path.join(self.top, "joaderfs.ini"), self.mount, "-f"],
                stdout=log, stderr=subprocess.STDOUT)
        while not os.path.exists(os.path.join(self.mount, "README")):
            if self.process.poll() is not None:
                raise Failed(f"{self.program} ended with {self.process.returncode}:\n{self.log()}")
            time.sleep(0.02)

    def __exit__(self, *_):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
        if os.path.ismount(self.mount) or not os.access(self.mount, os.R_OK):
            command = "fusermount3" if shutil.which("fusermount3") else "umount"
            subprocess.run([command, *(["-u", "-z"] if command != "umount" else ["-l"]),
                            self.mount], check=False, stderr=subprocess.DEVNULL)
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if not os.path.ismount(self.mount):
            shutil.rmtree(self.top, ignore_errors=True)

    def _write(self, name, text):
        with open(os.path.join(self.top, name), "w", encoding="utf-8") as file:
            file.write(text)

    def read(self, *names):
        with open(os.path.join(self.mount, *names), encoding="utf-8") as file:
            return file.read()

    def log(self):
        with open(os.path.join(self.top, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def view(self, job, directory="current"):
        return os.path.join(self.mount, "jobs", job, directory)

    def epoch(self, job):
        return self.view(job, "epoch-0000")

    def stats(self):
        return json.loads(self.read("stats.json"))

    def status(self, job):
        """Returns jobs/<job>/status as a dictionary of strings."""
        return dict(line.split(None, 1) for line in self.read("jobs", job, "status").splitlines()
                    if len(line.split(None, 1)) == 2)

    def order(self, job, epoch=0):
        """Returns the lines of epoch-000N.order as (position, id, label, served, absolute path)."""
        rows = []
        for line in self.read("jobs", job, f"epoch-{epoch:04d}.order").splitlines():
            position, sample, label, served, path = line.split("\t")
            rows.append((int(position), int(sample), int(label), served,
                         os.path.join(self.dataset, unescaped(path))))
        return rows

    def engine(self):
        """Returns the process id of the engine, which serves. Its parent only supervises it."""
        supervisor = self.process.pid
        with open(f"/proc/{supervisor}/task/{supervisor}/children", encoding="ascii") as file:
            return int(file.read().split()[0])

    def memory(self, key):
        """Returns the bytes of a line of the engine's /proc/PID/status, such as VmRSS."""
        return proc_bytes(f"/proc/{self.engine()}/status", key)

    def cpu_s(self):
        """Returns the CPU time of the daemon in seconds."""
        with open(f"/proc/{self.engine()}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def unescaped(text):
    def byte(match):
        code = match.group(1)
        return {b"n": b"\n", b"t": b"\t", b"\\": b"\\"}.get(code) or bytes([int(code[1:], 16)])
    return os.fsdecode(re.sub(rb"\\(n|t|\\|x[0-9a-f]{2})", byte, text.encode()))


def exactly_once(daemon, job, paths):
    """Returns a list of problems: samples that the job got twice, or not at all, or wrongly."""
    rows = daemon.order(job)
    expected = sorted(paths)
    problems = []
    if [r[0] for r in sorted(rows)] != list(range(len(expected))):
        problems.append(f"{job}: {len(rows)} positions bound of {len(expected)}")
    if len({r[1] for r in rows}) != len(rows):
        problems.append(f"{job}: {len(rows) - len({r[1] for r in rows})} samples twice")
    if sorted(r[4] for r in rows) != expected:
        missing = set(expected) - {r[4] for r in rows}
        problems.append(f"{job}: not the samples of its dataset, {len(missing)} missing")
    return problems


@contextlib.contextmanager
def started(commands, **how):
    """Starts several command lines. Yields their processes, and kills those that still run at the
    end of the `with` block."""
    processes = []
    try:
        for command in commands:
            processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **how))
        yield processes
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()


def answer(process, name):
    """Returns the JSON that the process prints until its end. name: of the process, in messages."""
    output = process.communicate()[0]
    if process.returncode != 0:
        raise Failed(f"{name} ended with {process.returncode}")
    return json.loads(output)


def call(argv, name=None, **how):
    """Runs a program. Returns the JSON that it prints. name: for messages, instead of argv[0]."""
    with started([argv], **how) as [process]:
        return answer(process, name or argv[0])


def run_readers(commands):
    """Runs several command lines at the same time. Returns the JSON of each, and the wall time."""
    begin = time.monotonic()
    with started(commands.values()) as processes:
        results = {name: answer(process, f"the reader of {name}")
                   for name, process in zip(commands, processes)}
    return results, time.monotonic() - begin


def made(tool, *arguments, problem=None):
    """Runs a tool that makes a directory and prints its path. Returns the path. problem: the
    message if the tool fails."""
    done = subprocess.run([os.path.join(TOOLS, tool), *arguments], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{problem or tool + ' failed'} (see above)")
    return done.stdout.strip()


def main_wrapper(main):
    """Runs main. Prints one line for a Failed, and no trace after Ctrl-C."""
    try:
        main()
    except Failed as error:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
