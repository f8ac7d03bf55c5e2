#!/usr/bin/env bash
# What is said of captures whose answer is known.
set -euo pipefail
python3 analysis/tests/check_answers.py "$CUTLINE"
