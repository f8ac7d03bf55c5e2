#!/usr/bin/env python3
"""How long a person waits for a capture, in a terminal: for the first frame and for all figures, the
first time and again, and the longest time in which a key does nothing; and how much sooner commands
answer on a capture that was opened before.

bench_open.py PROGRAM BENCH_LOAD CAPTURE

The yardstick is a one-thread SELECT of the columns that are read, by BENCH_LOAD in the same run. The
terminal is tmux, whose screen is looked at a hundred times a second: times are good to some 15 ms.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

program, bench_load, capture = sys.argv[1:4]
ROUNDS = 3
WAIT_S = 180
PAUSE_S = 0.1


class Screen:
    """A terminal of 200x50 with the capture in it."""
    count = 0

    def __init__(self, folder):
        Screen.count += 1
        self.socket = f"cutline-bench-{os.getpid()}-{Screen.count}"
        self.time_file = os.path.join(folder, "time")
        environment = dict(os.environ, XDG_CACHE_HOME=folder, XDG_STATE_HOME=folder, LC_ALL="C.UTF-8",
                           CUTLINE_CONFIG="/dev/null")
        environment.pop("TMUX", None)
        self.environment = environment
        self.tmux("new-session", "-d", "-x", "200", "-y", "50", "-s", "s", "bash --norc --noprofile")
        self.wait(lambda text: "$" in text or "#" in text)
        self.keys(f"/usr/bin/time -f %M -o {self.time_file} {program} view {capture}; echo le''ft", "Enter")
        self.began = time.monotonic()

    def tmux(self, *words):
        return subprocess.run(["tmux", "-L", self.socket, "-f", "/dev/null", *words], check=True, text=True,
                              capture_output=True, env=self.environment).stdout

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "s")

    def keys(self, *keys):
        self.tmux("send-keys", "-t", "s", *keys)

    def wait(self, holds):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            if holds(self.text()):
                return time.monotonic()
            time.sleep(0.005)
        sys.exit(f"bench_open: waited for too long; the screen:\n{self.text()}")

    def close(self):
        self.keys("q")
        self.wait(lambda text: "left" in text)
        self.tmux("kill-server")
        with open(self.time_file, encoding="ascii") as file:
            return int(file.read().split()[-1]) * 1024


def is_frame(text):
    """The rows of a device, and the line at the bottom, which is drawn last."""
    return text.rstrip("\n").split("\n")[-1].strip() != "" and re.search(r"^ *[v>▾▸-]? ?GPU \d", text, re.M) is not None


def is_final(text):
    return is_frame(text) and "reading" not in text and "only the first" not in text


def picture(text):
    """All but the line at the bottom, which tells how far the reading is."""
    return text.rstrip("\n").split("\n")[:-1]


def react(screen, key):
    """The seconds from a key to what it does."""
    old = picture(screen.text())
    began = time.monotonic()
    screen.keys(key)
    return screen.wait(lambda text: picture(text) != old) - began


def open_once(folder):
    """Seconds to the first frame and to all figures, the longest silence, peak bytes."""
    screen = Screen(folder)
    first = screen.wait(is_frame) - screen.began
    silent = 0.0
    key = "l"
    while not is_final(screen.text()):
        silent = max(silent, react(screen, key))
        key = "h" if key == "l" else "l"
        time.sleep(PAUSE_S)  # the processors are for the reading
    final = time.monotonic() - screen.began
    for key in "lhlhlh":
        silent = max(silent, react(screen, key))
    time.sleep(0 if os.environ.get("CUTLINE_BENCH_HASTE") else 4)  # what is kept is written meanwhile
    return first, final, silent, screen.close()


def seconds(folder, *words):
    environment = dict(os.environ, XDG_CACHE_HOME=folder, CUTLINE_CONFIG="/dev/null")
    best = None
    for _ in range(ROUNDS):
        began = time.monotonic()
        subprocess.run([program, *words, capture], check=True, stdout=subprocess.DEVNULL, env=environment)
        taken = time.monotonic() - began
        best = taken if best is None else min(best, taken)
    return best


def commands(select):
    """Each command from the capture, and from what is kept of it."""
    with tempfile.TemporaryDirectory() as folder:
        seconds(folder, "view", "--dump")
        kept = sum(os.path.getsize(os.path.join(folder, "cutline", name))
                   for name in os.listdir(os.path.join(folder, "cutline")))
        print(f"open      what is kept is {kept / os.path.getsize(capture):.2f} of the capture's size")
        for words in (("stats", "-r", "cuda_gpu_kern_sum"), ("analyze", "-r", "idle_gaps"), ("analyze",)):
            cold = seconds(folder, words[0], "--no-cache", *words[1:])
            again = seconds(folder, *words)
            print(f"open      {' '.join(words):29} cold {cold:.2f} s = {cold / select:.2f} x SELECT, again "
                  f"{again:.2f} s = {again / cold:.3f} x cold")


def main():
    if shutil.which("tmux") is None:
        print("open      skipped: no tmux")
        return
    select = float(subprocess.run([bench_load, "--select", capture], check=True, text=True,
                                  capture_output=True).stdout.split()[0])
    events = int(subprocess.run([bench_load, "--events", capture], check=True, text=True,
                                capture_output=True).stdout.split()[0])
    print(f"open      {events / 1e6:.1f} M events, one-thread SELECT {select:.2f} s")
    for again in (False, True):
        best = None
        with tempfile.TemporaryDirectory() as folder:
            if again:
                open_once(folder)
            for _ in range(ROUNDS):
                if not again:
                    shutil.rmtree(os.path.join(folder, "cutline"), ignore_errors=True)
                found = open_once(folder)
                best = found if best is None else tuple(map(min, best, found))
        name = "again" if again else "cold"
        print(f"open      {name:5} first frame {best[0]:.2f} s = {best[0] / select:.3f} x SELECT, all figures "
              f"{best[1]:.2f} s = {best[1] / select:.3f} x")
        print(f"open      {name:5} longest without reaction {best[2] * 1e3:.0f} ms, peak {best[3] / events:.1f} "
              "bytes an event")
    commands(select)


main()
