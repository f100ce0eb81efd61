# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""joaderctl top in a terminal of this test: its screen, keys, sizes, signals, and its end."""
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time
import pyte

ctl, socket = sys.argv[1:]


class Terminal:
    def __init__(self, columns, lines, *arguments):
        self.master, slave = pty.openpty()
        self.resize(columns, lines, None)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen([ctl, "--socket", socket, "top", *arguments], stdin=slave,
                                        stdout=slave, stderr=slave, preexec_fn=self.control)
        self.raw = b""

    @staticmethod
    def control():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def resize(self, columns, lines, screen=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)

    def read(self):
        if not select.select([self.master], [], [], 0.02)[0]:
            return
        data = os.read(self.master, 65536)
        self.raw += data
        self.stream.feed(data)

    def lines(self):
        return [line.rstrip() for line in self.screen.display]

    def until(self, what, holds):
        end = time.monotonic() + 60
        while not holds(self.lines()):
            if time.monotonic() > end:
                sys.exit(f"never: {what}\n" + "\n".join(self.lines()))
            self.read()
        return self.lines()

    def press(self, keys):
        os.write(self.master, keys)

    def ended(self, status=0):
        end = time.monotonic() + 60
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        self.read()
        assert self.process.poll() == status, self.process.poll()
        assert self.raw.rstrip().endswith(b"\033[?25h\033[?1049l"), self.raw[-80:]
        assert termios.tcgetattr(self.slave) == self.before, "the terminal is not as it was"
        os.close(self.master)
        os.close(self.slave)


def jobs(lines):
    """The names in the table."""
    heads = [i for i, line in enumerate(lines) if line.startswith("JOB ")]
    return [line.split()[0] for line in lines[heads[0] + 1:] if line] if heads else []


terminal = Terminal(140, 30, "--interval", "0.1")
lines = terminal.until("all three jobs", lambda lines: jobs(lines) == ["beta", "alpha", "gamma"])
head = next(line for line in lines if line.startswith("JOB "))
assert head.split() == ["JOB", "DATASET", "STATE", "EPOCH", "DONE", "LEFT", "SAMPLES/S", "DEMAND",
                        "SHARE", "WAITED", "STORAGE", "DECODE", "QUEUE", "FS", "PREP:SHARED:HIT"]
row = next(line for line in lines if line.startswith("beta "))
assert row.split()[1:5] == ["images", "finished", "0", "100%"], row
assert row.split()[-1] == "100:0:0", row
assert any(line.startswith("cache ") for line in lines)
assert any(line.startswith("storage ") for line in lines)
terminal.press(b"n")
terminal.until("sorted by name", lambda lines: jobs(lines) == ["alpha", "beta", "gamma"])
terminal.press(b"d")
terminal.until("sorted by done", lambda lines: jobs(lines) == ["beta", "gamma", "alpha"])

# A narrow terminal: the most important columns stay, and no line is longer.
terminal.resize(34, 30)
lines = terminal.until("a narrow table", lambda lines: jobs(lines)[:1] == ["beta"] and any(
    line.split() == ["JOB", "DONE", "SAMPLES/S", "WAITED"] for line in lines))
# A low terminal: the first jobs, and the number of other jobs.
terminal.resize(100, 9)
terminal.until("few lines", lambda lines: lines[-1] in ("and 2 more", "and 3 more"))
terminal.resize(3, 2)
terminal.until("hardly a screen", lambda lines: lines == ["joa", "sam"])
terminal.resize(100, 30)
terminal.until("a screen again", lambda lines: len(jobs(lines)) == 3)

# ^Z, and then continued
before = len(terminal.raw)
terminal.press(b"\x1a")
while os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED | os.WNOWAIT | os.WNOHANG) is None:
    terminal.read()
terminal.read()
assert b"\033[?1049l" in terminal.raw[before:], "it stops on its own screen"
assert termios.tcgetattr(terminal.slave) == terminal.before
terminal.process.send_signal(signal.SIGCONT)
terminal.screen.reset()
terminal.until("a screen after ^Z", lambda lines: len(jobs(lines)) == 3)
terminal.press(b"q")
terminal.ended()

# The end by ^C, and by a signal.
terminal = Terminal(80, 24)
terminal.until("a screen", lambda lines: len(jobs(lines)) == 3)
terminal.press(b"\x03")
terminal.ended()
terminal = Terminal(80, 24, "--sort", "name")
terminal.until("sorted", lambda lines: jobs(lines) == ["alpha", "beta", "gamma"])
terminal.process.terminate()
terminal.ended()
print("terminal: passed")
