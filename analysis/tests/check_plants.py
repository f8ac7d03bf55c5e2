#!/usr/bin/env python3
"""Precision and recall of the page of findings on planted causes (plants/plants.py).

check_plants.py CUTLINE [WORD]: each plant clean and with noise, of several seeds. What the page says counts as found
if it is worth 3 % of the span or has no time. Clean plants must be found with precision and recall 1.0, noisy ones
with 0.95 or more.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE / "answers"), str(HERE / "plants")]
from capture import Capture  # noqa: E402
from plants import PLANTS, Random  # noqa: E402

SEEDS = {0.0: (1, 2, 3, 4), 0.2: (11, 12, 13, 14), 0.4: (21, 22, 23)}
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
LABELS = [  # a part of a finding, its label
    (r"idle [\d.]+ % of [a-z ]+: (.*)", r"idle: \1"),
    (r"too many small launches", "small launches"),
    (r"launch calls wait for room", "full queue"),
    (r"page migrations of unified memory", "migrations"),
    (r"copy time is not hidden", "exposed copies"),
    (r"exposed communication", "exposed communication"),
    (r" failed: ", "failed calls"),
    (r"hides its kernels", "opaque graph"),
]


def labels_of(page):
    """The labels of what the page says, and why."""
    spans = [float(m[1]) * UNITS[m[2]] for m in re.finditer(r"busy [\d.]+ % of ([\d.]+) (\w+)\s+\(first\s+to", page)]
    parts = [float(m[1]) * UNITS[m[2]] for m in re.finditer(r",\s+[\d.]+\s+%\s+of\s+the\s+([\d.]+)\s+(\w+)\s+that\s+count", page)]
    span = max(parts or spans or [1])
    found = set()
    for m in re.finditer(r"^ *\d+\. (.*)$((?:\n    .*)*)", page.split("Counted above")[0], re.M):
        title, rest = m[1], " ".join(m[2].split())
        time = re.search(r"\s([\d.]+) (ns|us|ms|s)$", title)
        if time and float(time[1]) * UNITS[time[2]] < 0.03 * span:
            continue
        text = title[:time.start()].strip() if time else title
        for pattern, label in LABELS:
            at = re.search(pattern, text)
            if at:
                found.add(at.expand(label))
        found |= {"who is late"} if "is late: it computes" in rest else set()
        found |= {"few blocks"} if "multiprocessors have nothing to do" in rest else set()
    return found | ({"steady state"} if "Steady state:" in page else set())


def main():
    cutline, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        for noise, seeds in SEEDS.items():
            right = wrong = missed = runs = 0
            for name, write, wanted, allowed, options in PLANTS:
                for seed in seeds if word in name else ():
                    path = f"{folder}/{runs}-{noise}.sqlite"
                    capture = Capture(path, **options)
                    write(capture, Random(f"{name} {seed}", noise))
                    capture.close()
                    page = subprocess.run([cutline, "analyze", path], capture_output=True, text=True, check=True).stdout
                    found = labels_of(page)
                    runs += 1
                    right += len(found & wanted)
                    missed += len(wanted - found)
                    wrong += len(found - wanted - allowed)
                    if wanted - found or found - wanted - allowed:
                        print(f"{name}, noise {noise}, seed {seed}: missed {sorted(wanted - found)}, "
                              f"wrong {sorted(found - wanted - allowed)}")
                    pathlib.Path(path).unlink()
            precision, recall = right / max(right + wrong, 1), right / max(right + missed, 1)
            print(f"noise {noise}: {runs} captures, precision {precision:.3f}, recall {recall:.3f}")
            status |= runs > 0 and min(precision, recall) < (1.0 if noise == 0 else 0.95)
    return int(status)


sys.exit(main())
