#!/usr/bin/env python3
"""Captures whose answer is known: what cutline says of them, and what it must not say.

check_answers.py CUTLINE [WORD]: the cases of answers/*.py (those with WORD in their name). A case is a name, a
function that writes a capture, a command ("keys=..." in it is a script of the timeline), texts that must be in the output (blanks and line breaks count as one
blank) and texts that must not.
"""
import importlib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent / "answers"
sys.path.insert(0, str(HERE))
from capture import Capture  # noqa: E402


def squeeze(text):
    return " ".join(text.split())


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def more_than_span(page):
    """Devices whose findings on the page promise more time than their span has."""
    spans = {m[1]: float(m[2]) * UNITS[m[3]]
             for m in re.finditer(r"^GPU (\d+) .*busy [\d.]+ % of ([\d.]+) (\w+) \(first to last op\)", page, re.M)}
    won = {}
    for m in re.finditer(r"^ *\d+\. GPU (\d+)[: ].*?\s([\d.]+) (ns|us|ms|s)$", page, re.M):
        won[m[1]] = won.get(m[1], 0) + float(m[2]) * UNITS[m[3]]
    return [gpu for gpu, ns in won.items() if ns > 1.02 * spans.get(gpu, 0)]


def script(folder, word):
    """A word of a command; the keys of "keys=..." are put in a file, whose name it is then."""
    if not word.startswith("keys="):
        return word
    path = pathlib.Path(folder, "keys")
    path.write_text(word[5:])
    return str(path)


def main():
    cutline, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for topic in sorted(p.stem for p in HERE.glob("*.py") if p.stem != "capture"):
            module = importlib.import_module(topic)
            for name, write, command, wanted, unwanted in module.CASES:
                if word not in f"{topic}: {name}":
                    continue
                path = f"{folder}/answer-{count}.sqlite"
                capture = Capture(path, **getattr(write, "options", {}))
                write(capture)
                capture.close()
                words = [script(folder, word) for word in shlex.split(command)]
                run = subprocess.run([cutline, *words, path], capture_output=True, text=True, check=False)
                said = squeeze(run.stdout)
                count += 1
                wrong = [f"not said: {text}" for text in wanted if squeeze(text) not in said]
                wrong += [f"said: {text}" for text in unwanted if squeeze(text) in said]
                wrong += [f"GPU {gpu}: more time is promised than its span has" for gpu in more_than_span(run.stdout)]
                if run.returncode != 0:
                    wrong.append(f"status {run.returncode}: {run.stderr.strip()}")
                if wrong:
                    failed += 1
                    print(f"{topic}: {name} ({command}):", *wrong, "it says:", run.stdout, sep="\n  ")
    print(f"{count} answers, {failed} wrong")
    return 1 if failed or count == 0 else 0


sys.exit(main())
