#!/usr/bin/env python3
"""What cutline export writes is read again as it was: check_round_trip.py CUTLINE CAPTURE FOLDER.

Sums of kernels, copies, calls and ranges, and the launches of kernels, are those of the capture.
"""
import csv
import io
import json
import subprocess
import sys

cutline, capture, folder = sys.argv[1:]
trace = f"{folder}/trace.json.gz"
subprocess.run([cutline, "export", "--force", "-o", trace, capture], check=True)


def rows(path, report):
    done = subprocess.run([cutline, "stats", "-r", report, "-f", "csv", path], check=True,
                          capture_output=True, text=True)
    return list(csv.DictReader(io.StringIO(done.stdout)))


def numbers(path, report, columns):
    return sorted(tuple(row[column] for column in columns) for row in rows(path, report))


def info(path):
    done = subprocess.run([cutline, "info", "-f", "json", path], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


SUMS = ["Total Time (ns)", "Instances", "Name"]
CALLS = ["Total Time (ns)", "Num Calls", "Name"]
COMPARED = [
    ("cuda_gpu_kern_sum", SUMS),
    ("cuda_api_sum", CALLS),
    ("osrt_sum", CALLS),
    ("nvtx_sum", ["Total Time (ns)", "Instances", "Range"]),
    ("nvtx_gpu_proj_sum", ["Total Proj Time (ns)", "Total Range Time (ns)", "Range Instances", "Range"]),
    ("cuda_kern_exec_sum", ["Count", "KAvg (ns)", "QAvg (ns)", "AAvg (ns)", "Kernel Name"]),
    ("cuda_gpu_mem_time_sum", ["Total Time (ns)", "Count"]),
    ("cuda_gpu_mem_size_sum", ["Total (MB)", "Count"]),
]
for report, columns in COMPARED:
    before, after = numbers(capture, report, columns), numbers(trace, report, columns)
    assert before == after, f"{report}: {set(before) ^ set(after)}"
print(f"{capture.rsplit('/', 1)[-1]}: {sum(len(numbers(capture, r, c)) for r, c in COMPARED)} rows equal")
