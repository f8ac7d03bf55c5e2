#!/usr/bin/env python3
"""Writes or checks the option sections of the manual pages.

    options.py --write PROGRAM     rewrites the sections
    options.py --check PROGRAM     names the pages whose section is not what the program says

The page of command NAME is cutline-NAME.1 beside this script. Its section lies between two comment
lines; `PROGRAM help --mdoc NAME` prints what belongs there.
"""
import pathlib
import subprocess
import sys

BEGIN = '.\\" options: made by ./dev docs\n'
END = '.\\" options: end\n'
KEYS_BEGIN = '.\\" keys: made by ./dev docs\n'
KEYS_END = '.\\" keys: end\n'
# Short commands that cutline.1 itself describes.
IN_MAIN_PAGE = {"help", "completion"}


def command_names(program):
    text = subprocess.run([program, "help"], check=True, capture_output=True, text=True).stdout
    lines = text.split("\nCommands:\n", 1)[1].split("\n\n", 1)[0].splitlines()
    return [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]


def updated(page, section, first=BEGIN, last=END):
    """The page with the section put in; None where it has no marker lines."""
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        return None
    return before + begin + section + end + after


def main():
    mode, program = sys.argv[1], sys.argv[2]
    folder = pathlib.Path(__file__).parent
    bad = 0
    for name in command_names(program):
        if name in IN_MAIN_PAGE:
            continue
        path = folder / f"cutline-{name}.1"
        if not path.exists():
            print(f"{path.name}: missing: write it, with the two marker lines for the options")
            bad += 1
            continue
        section = subprocess.run([program, "help", "--mdoc", name], check=True,
                                 capture_output=True, text=True).stdout
        page = path.read_text()
        new = updated(page, section)
        if new is not None and KEYS_BEGIN in page:
            keys = subprocess.run([program, name, "--keys=mdoc"], check=True,
                                  capture_output=True, text=True).stdout
            new = updated(new, keys, KEYS_BEGIN, KEYS_END)
        if new is None:
            print(f"{path.name}: no marker lines for the options (see man/options.py)")
            bad += 1
        elif new != page and mode == "--write":
            path.write_text(new)
            print(f"{path.name}: options written")
        elif new != page:
            print(f"{path.name}: options differ from the program's: run ./dev docs")
            bad += 1
    return 1 if bad else 0


sys.exit(main())
