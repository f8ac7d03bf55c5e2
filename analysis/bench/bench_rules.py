#!/usr/bin/env python3
"""Time of our rules of `cutline analyze`, of its findings and of diff and export, load included;
beside idle_gaps the SQL that finds the same gaps, without their causes. The best of three rounds,
one where it is long.

    bench_rules.py PROGRAM CAPTURE
"""
import sys

from rounds import best

OPS = " UNION ALL ".join(f"SELECT deviceId, start, end FROM CUPTI_ACTIVITY_KIND_{table}"
                         for table in ("KERNEL", "MEMCPY", "MEMSET"))
GAPS = f"""SELECT last, start FROM (SELECT start, max(end) OVER (PARTITION BY deviceId ORDER BY start
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last FROM ({OPS}))
    WHERE start - last >= 50000 ORDER BY start - last DESC"""


def main():
    program, capture = sys.argv[1:3]
    print("rules, seconds with the load")
    for name in ("idle_gaps", "launch_density", "small_copies", "hidden_transfers",
                 "low_utilisation", "graph_opaque"):
        print(f"{name:24} {best([program, 'analyze', '-q', '-r', name, '-f', 'csv', capture]):8.2f}",
              flush=True)
    sql = best(["sqlite3", "-csv", f"file:{capture}?immutable=1", GAPS])
    print(f"{'idle_gaps by SQL':24} {sql:8.2f}")
    print(f"{'findings':24} {best([program, 'analyze', capture]):8.2f}")
    print(f"{'diff with itself':24} {best([program, 'diff', '-f', 'csv', capture, capture]):8.2f}")
    print(f"{'export -t chrome':24} {best([program, 'export', capture]):8.2f}")


if __name__ == "__main__":
    main()
