#!/usr/bin/env python3
"""Every way out of the timeline gives the terminal back: modes, cursor, mouse, first screen.

Run by test_view_signals.sh with CUTLINE and CUTLINE_BUILD set. Each case opens the timeline on a
pseudo-terminal and waits for what it shows or for what the kernel says of the process; nothing waits
for a time. A case that never comes to its end is ended by the test's own time limit.
"""
import fcntl
import os
import pathlib
import re
import resource
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import tty

CUTLINE = os.environ["CUTLINE"]
DEMO = os.environ["CUTLINE_BUILD"] + "/demo.sqlite"
READY = b" filter"
ENTER, LEAVE = b"\x1b[?1049h", b"\x1b[?1049l"
SANITIZED = b"__asan_init" in pathlib.Path(CUTLINE).read_bytes()
MOUSE = re.compile(rb"\x1b\[\?(?:1006;)?1000([hl])")
DRAG = re.compile(rb"\x1b\[\?1002([hl])")
PASTE = re.compile(rb"\x1b\[\?2004([hl])")
CURSOR = re.compile(rb"\x1b\[\?25([hl])")


class Timeline:
    """The program on a terminal of its own that this test plays."""

    def __init__(self, size=(24, 80), raw=False, args=(), hup_ignored=False, env=()):
        self.master, self.slave = os.openpty()
        if raw:
            tty.setraw(self.slave)
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.seen = b""
        environ = dict(os.environ, TERM="xterm-256color", CUTLINE_CONFIG="/dev/null", LC_ALL="C.UTF-8",
                       XDG_STATE_HOME=os.environ["WORK"] + "/state")
        for name in ("STY", "COLORFGBG", "NO_COLOR"):
            environ.pop(name, None)
        environ.update(env)

        def begin():
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if hup_ignored:
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
        self.process = subprocess.Popen([CUTLINE, "view", *args, DEMO], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, env=environ, start_new_session=True,
                                        preexec_fn=begin)

    def resize(self, rows, cols):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, wait=0.05):
        if select.select([self.master], [], [], wait)[0]:
            self.seen += os.read(self.master, 65536)
            return True
        return False

    def until(self, text, after=0):
        while text not in self.seen[after:]:
            assert self.process.poll() is None, (text, self.process.returncode, self.seen[-300:])
            self.read()

    def type(self, keys):
        os.write(self.master, keys)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def state(self):
        """R, S, T, ... and the system call in which it is ("" where the kernel does not tell)."""
        status = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        try:
            call = pathlib.Path(f"/proc/{self.process.pid}/syscall").read_text().split()
        except OSError:
            call = []
        return status, call

    def until_state(self, wanted):
        while not wanted(*self.state()):
            assert self.process.poll() is None, self.process.returncode
            time.sleep(0.005)

    def until_idle(self):
        """Reads until the program sleeps and has nothing more to say."""
        while self.read() or self.state()[0] != "S":
            assert self.process.poll() is None, self.process.returncode

    def unread_keys(self):
        return struct.unpack("i", fcntl.ioctl(self.slave, termios.FIONREAD, b"\0" * 4))[0]

    def end(self):
        """Waits for the end, reads what is left; the status as subprocess tells it."""
        while self.process.poll() is None:
            self.read()
        while self.read(0):
            pass
        return self.process.returncode

    def check_given_back(self, what):
        assert termios.tcgetattr(self.slave) == self.before, f"{what}: other modes"
        tail = self.seen[self.seen.rindex(ENTER):]
        assert LEAVE in tail, f"{what}: still on the second screen: {tail[-200:]}"
        assert CURSOR.findall(tail)[-1] == b"h", f"{what}: no cursor"
        assert MOUSE.findall(tail)[-1] == b"l", f"{what}: the mouse is on"
        assert DRAG.findall(tail)[-1] == b"l", f"{what}: drags are told"
        assert PASTE.findall(tail)[-1] == b"l", f"{what}: pastes are marked"

    def close(self):
        os.close(self.master)
        os.close(self.slave)


def check_signal(number, want):
    line = Timeline()
    line.until(READY)
    line.signal(number)
    status = line.end()
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    assert status in want, f"{name}: status {status}"
    line.check_given_back(name)
    line.close()


def check_every_signal():
    """All whose default action ends a process but SIGKILL: status and terminal as they should be."""
    leaving = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT}
    passed = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT,
              signal.SIGCHLD, signal.SIGURG, signal.SIGWINCH}
    for number in sorted(set(range(1, 32)) - {int(n) for n in passed}) + [signal.SIGRTMIN, signal.SIGRTMAX]:
        # A sanitizer reports a fault and ends with a status of its own.
        want = {128 + number} if number in leaving else {-number} | ({1} if SANITIZED else set())
        check_signal(number, want)


def check_stalled():
    """The terminal reads nothing: TERM and HUP end the program all the same, at once."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM):
        line = Timeline(size=(100, 300))
        line.until(READY)
        while True:
            line.type(b"\x0c")  # the whole screen again
            status, call = line.state()
            if not call:
                print("skipped: the kernel does not tell in which call a process is")
                line.process.kill()
                return
            if status == "S" and call[:2] == ["1", "0x1"] and line.unread_keys() > 0:
                break
            time.sleep(0.002)
        line.signal(number)
        line.process.wait()
        assert abs(line.process.returncode) % 128 == number, line.process.returncode
        line.end()
        line.check_given_back(f"stalled, {number}")
        line.close()


def check_stalled_idle():
    """Nothing is read, and the program waits for a key: it must not wait for its last words either."""
    line = Timeline()
    line.until(READY)
    line.until_state(lambda status, call: status == "S" and call[:1] != ["1"])
    # Ctrl-S: what is written now stays in the kernel.
    line.type(b"\x13")
    while line.unread_keys() > 0:
        time.sleep(0.005)
    line.signal(signal.SIGTERM)
    line.process.wait()
    assert line.process.returncode == 128 + signal.SIGTERM, line.process.returncode
    line.close()


def computing():
    """A timeline that works off a long row of keys and is in the middle of it."""
    line = Timeline(raw=True)
    line.until(READY)
    line.type(b"gjtjTjRjDjZj" * 300)
    most = 0
    while most < 1000 or line.unread_keys() > most - 20:
        most = max(most, line.unread_keys())
        assert line.process.poll() is None
    assert line.unread_keys() > 0, "too quick for this test"
    return line


def check_computing():
    """Thousands of keys are being worked off: TERM does not wait for the last one."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        line = computing()
        line.signal(number)
        status = line.end()
        assert status == 128 + number, status
        assert line.unread_keys() > 0, f"signal {number}: worked off all keys first"
        line.check_given_back(f"computing, {number}")
        line.close()


def check_interrupted_twice():
    """Ctrl-C is a key like any other while the program computes; a second one leaves at once."""
    line = computing()
    line.signal(signal.SIGINT)
    while line.process.poll() is None:
        line.signal(signal.SIGINT)
        line.read(0.005)
    assert line.process.returncode == 128 + signal.SIGINT, line.process.returncode
    assert line.unread_keys() > 0, "worked off all keys first"
    line.end()
    line.check_given_back("interrupted twice")
    line.close()


def check_stopped():
    """After SIGSTOP the shell sets the terminal as it likes; continued, the timeline sets it anew."""
    line = Timeline()
    line.until(READY)
    ours = termios.tcgetattr(line.slave)
    assert ours != line.before
    line.signal(signal.SIGSTOP)
    line.until_state(lambda status, call: status == "T")
    termios.tcsetattr(line.slave, termios.TCSANOW, line.before)
    mark = len(line.seen)
    line.signal(signal.SIGCONT)
    line.until(READY, mark)
    assert ENTER in line.seen[mark:], "the second screen is not entered again"
    assert MOUSE.findall(line.seen[mark:])[-1] == b"h", "the mouse is not asked for again"
    line.until_state(lambda status, call: status == "S")
    assert termios.tcgetattr(line.slave) == ours, "not our modes"
    line.type(b"q")
    assert line.end() == 0
    line.check_given_back("stopped and continued")
    line.close()


def check_sizes():
    """Sizes that no screen has are cut, at the begin and later."""
    for size in ((65535, 65535), (1, 65535), (65535, 1), (32767, 32767)):
        line = Timeline(size=size)
        line.until(ENTER)
        line.until_idle()
        mark = len(line.seen)
        line.resize(24, 80)
        line.until(READY, mark)
        line.resize(*size)
        line.until_idle()
        line.resize(24, 80)
        line.until_idle()
        line.type(b"q")
        status = line.end()
        assert status == 0, f"{size}: {status}"
        line.check_given_back(f"{size}")
        line.close()


def check_ignored():
    """Under nohup SIGHUP stays ignored."""
    line = Timeline(hup_ignored=True)
    line.until(READY)
    line.signal(signal.SIGHUP)
    line.type(b"g")
    line.until(b"Idle")
    line.type(b"qq")
    assert line.end() == 0
    line.close()


if __name__ == "__main__":
    for check in (check_every_signal, check_stalled, check_stalled_idle, check_computing, check_interrupted_twice,
                  check_stopped, check_sizes, check_ignored):
        if len(sys.argv) > 1 and check.__name__ not in sys.argv[1:]:
            continue
        print(check.__doc__, flush=True)
        check()
