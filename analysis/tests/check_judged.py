#!/usr/bin/env python3
"""Compares the page of findings of real captures with what was judged by hand (judged/judgements.py).

check_judged.py CUTLINE FOLDER [WORD]: the SQL of each judgement gives what it says, and the page says it, too.
"""
import pathlib
import re
import sqlite3
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "judged"))
from judgements import IDLE, JUDGEMENTS, OPS  # noqa: E402


def squeeze(text):
    return " ".join(text.split())


def expand(db, sql):
    """The SQL with {ops}, {idle} (device 0) and {ops1}, {idle1} (device 1) written out."""
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}

    def more(name, device):
        table = f"CUPTI_ACTIVITY_KIND_{name}"
        return f' UNION ALL SELECT start, "end" FROM {table} WHERE deviceId = {device}' if table in tables else ""
    for mark, device in (("1", 1), ("", 0)):
        ops = OPS.format(device=device, memcpy=more("MEMCPY", device), memset=more("MEMSET", device),
                         graph=more("GRAPH_TRACE", device))
        sql = sql.replace("{idle" + mark + "}", IDLE.replace("{ops}", ops)).replace("{ops" + mark + "}", ops)
    return sql


def first_finding(page):
    found = re.search(r"^ 1\. (.*?)(?:\n|$)", page, re.M)
    return squeeze(found[1]) if found else None


def wrong_in(cutline, path, facts, first, wanted, unwanted):
    db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    for sql, least, most in facts:
        value = db.execute(expand(db, sql)).fetchone()[0]
        if value is None or not least <= value <= most:
            yield f"the judgement does not hold: {squeeze(sql)} gives {value}, not {least} to {most}"
    run = subprocess.run([cutline, "analyze", path], capture_output=True, text=True, check=False)
    said = squeeze(run.stdout)
    if run.returncode != 0:
        yield f"status {run.returncode}: {run.stderr}"
    found = first_finding(run.stdout)
    if (found is None) != (first is None) or (first is not None and not found.startswith(first)):
        yield f"first finding: {found!r}, judged: {first!r}"
    yield from (f"not said: {text}" for text in wanted if squeeze(text) not in said)
    yield from (f"said: {text}" for text in unwanted if squeeze(text) in said)


def main():
    cutline, folder, word = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
    count = failed = 0
    for name, judgement, facts, first, wanted, unwanted in JUDGEMENTS:
        path = folder / f"{name}.sqlite"
        if word not in name or not path.exists():
            continue
        count += 1
        wrong = list(wrong_in(cutline, path, facts, first, wanted, unwanted))
        if wrong:
            failed += 1
            print(f"{name}: {judgement}", *wrong, sep="\n  ")
    print(f"{count} captures judged, {failed} wrong")
    return 1 if failed else 0


sys.exit(main())
