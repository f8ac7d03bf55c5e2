#!/usr/bin/env python3
"""Compares `cutline diff BASE NEW` with sums by SQL.

check_diff.py PROGRAM BASE NEW [same]; same: BASE and NEW are one capture, all changes are zero.
"""
import csv
import io
import math
import re
import sqlite3
import subprocess
import sys

program, base_file, new_file = sys.argv[1:4]
same = len(sys.argv) > 4


def diff(*options):
    run = subprocess.run([program, "diff", "-f", "csv", *options, base_file, new_file], text=True,
                         capture_output=True)
    return run.returncode, list(csv.DictReader(io.StringIO(run.stdout)))


class File:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?immutable=1", uri=True)

    def rows(self, sql):
        try:
            return self.db.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            assert "no such table" in str(error), error
            return []

    def sums(self, sql):
        """name -> (count, total ns, mean, sum of squared deviations)"""
        groups = {}
        for name, ns in self.rows(sql):
            groups.setdefault(name, []).append(ns)
        answer = {}
        for name, values in groups.items():
            mean = sum(values) / len(values)
            answer[name] = (len(values), sum(values), mean, sum((v - mean) ** 2 for v in values))
        return answer

    def kernels(self):
        return self.sums("""SELECT s.value, k.end - k.start FROM CUPTI_ACTIVITY_KIND_KERNEL k
                            JOIN StringIds s ON s.id = k.demangledName""")

    def api(self):
        rows = self.rows("""SELECT s.value, r.end - r.start FROM CUPTI_ACTIVITY_KIND_RUNTIME r
                            JOIN StringIds s ON s.id = r.nameId WHERE eventClass IN (0, 1, 13, 26)""")
        groups = {}
        for name, ns in rows:
            groups.setdefault(re.sub(r"_v\d{4,}$", "", name), []).append(ns)
        return {n: (len(v), sum(v), sum(v) / len(v), 0.0) for n, v in groups.items()}

    def nvtx(self):
        """Closed push/pop ranges with their domain."""
        domains = {}
        for pid, domain, name in self.rows(
                """SELECT globalTid & -16777216, domainId, coalesce(s.value, text) FROM NVTX_EVENTS
                   LEFT JOIN StringIds s ON s.id = textId WHERE eventType = 75 ORDER BY start"""):
            domains.setdefault((pid, domain), name)
        groups = {}
        for pid, domain, name, ns in self.rows(
                """SELECT globalTid & -16777216, domainId, coalesce(s.value, text), end - start
                   FROM NVTX_EVENTS LEFT JOIN StringIds s ON s.id = textId
                   WHERE eventType IN (59, 60) AND end IS NOT NULL"""):
            label = domains.get((pid, domain)) if domain else None
            groups.setdefault(f"{label}:{name}" if label else name, []).append(ns)
        return {n: (len(v), sum(v), sum(v) / len(v), 0.0) for n, v in groups.items()}

    def totals(self):
        union = " UNION ALL ".join(
            f"SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_{t}" for t in
            ("KERNEL", "MEMCPY", "MEMSET") if self.rows(
                f"SELECT 1 FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_{t}'"))
        ops = [r for r in self.rows(union) if r[1] or r[2]]
        busy = idle = 0
        for device in {op[0] for op in ops}:
            until = None
            for _, begin, end in sorted((op for op in ops if op[0] == device), key=lambda o: o[1:]):
                if until is None or begin > until:
                    idle += begin - until if until is not None else 0
                    busy += end - begin
                    until = end
                elif end > until:
                    busy += end - until
                    until = end
        copies = self.rows("SELECT count(*), sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY")[0]
        return {"span": max(o[2] for o in ops) - min(o[1] for o in ops), "GPU busy": busy,
                "GPU idle": idle,
                "launches": self.rows("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")[0][0],
                "copies": copies[0], "copied bytes": copies[1]}


def close(got, want):
    return got != "" and math.isclose(float(got), want, rel_tol=1e-9, abs_tol=0.06)


def check_kind(rows, kind, before, after):
    mine = {r["Name"]: r for r in rows if r["Kind"] == kind and not r["Base Name"]}
    renamed = {r["Base Name"] for r in rows if r["Kind"] == kind and r["Base Name"]} | \
              {r["Name"] for r in rows if r["Kind"] == kind and r["Base Name"]}
    for name in (before.keys() | after.keys()) - renamed:
        row = mine[name]
        for side, sums in (("Base", before), ("New", after)):
            if name not in sums:
                assert row[f"{side} Count"] == "" and row[f"{side} Total (ns)"] == "", row
                assert row["Verdict"] == ("new" if side == "Base" else "gone"), row
                continue
            count, total, mean, _ = sums[name]
            assert close(row[f"{side} Count"], count) and \
                close(row[f"{side} Total (ns)"], total) and \
                close(row[f"{side} Avg (ns)"], mean), (row, sums[name])
        if name in before and name in after:
            assert close(row["Delta (ns)"], after[name][1] - before[name][1]), row
            assert float(row["Speed-up"]) == round(before[name][2] / after[name][2], 3) or \
                math.isclose(float(row["Speed-up"]), before[name][2] / after[name][2],
                             abs_tol=0.0006), row
    extra = set(mine) - before.keys() - after.keys()
    assert not extra, f"{kind}: rows that SQL does not have: {sorted(extra)[:3]}"
    return len(mine) + len(renamed)


def check_noise(rows, before, after):
    """Kernels: the verdict is noise exactly where the 95 % ranges allow it."""
    table = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306,
             9: 2.262, 10: 2.228, 30: 2.042, 60: 2.0003, 120: 1.9799}
    for row in (r for r in rows if r["Kind"] == "kernel" and r["Name"] in before):
        count, _, _, square = before[row["Name"]]
        if count - 1 in table and row["Base +- (ns)"]:
            want = table[count - 1] * math.sqrt(square / (count - 1) / count)
            assert math.isclose(float(row["Base +- (ns)"]), want, rel_tol=0.01, abs_tol=0.1), row
        both = row["Base +- (ns)"] and row["New +- (ns)"] and row["Verdict"] != "same"
        if both:
            allowed = math.hypot(float(row["Base +- (ns)"]), float(row["New +- (ns)"]))
            apart = abs(float(row["New Avg (ns)"]) - float(row["Base Avg (ns)"]))
            if abs(apart - allowed) > 0.2:
                assert (row["Verdict"] == "noise") == (apart < allowed), row


def check_totals(rows, before, after):
    mine = {r["Name"]: r for r in rows if r["Kind"] == "total"}
    assert list(mine) == list(before), list(mine)
    for name, row in mine.items():
        column = "Count" if name in ("launches", "copies", "copied bytes") else "Total (ns)"
        assert close(row[f"Base {column}"], before[name]), (row, before[name])
        assert close(row[f"New {column}"], after[name]), (row, after[name])
    causes = [r for r in rows if r["Kind"] == "idle"]
    for side, totals in (("Base", before), ("New", after)):
        total = sum(float(r[f"{side} Total (ns)"] or 0) for r in causes)
        assert close(str(total), totals["GPU idle"]), f"causes add up to {total}, not {totals}"


before, after = File(base_file), File(new_file)
status, rows = diff("--exact")
assert status == 0, status
checked = check_kind(rows, "kernel", before.kernels(), after.kernels())
checked += check_kind(rows, "api", before.api(), after.api())
checked += check_kind(rows, "nvtx", before.nvtx(), after.nvtx())
check_totals(rows, before.totals(), after.totals())
check_noise(rows, before.kernels(), after.kernels())
if same:
    for row in rows:
        assert row["Verdict"] == "same" and float(row["Delta (ns)"] or 0) == 0, row
        assert row["Speed-up"] in ("", "1.000"), row
    status, _ = diff("--fail-on-regression", "0")
    assert status == 0, "a capture is slower than itself"
print(f"{checked} rows agree, {'no change' if same else 'totals agree'}")
