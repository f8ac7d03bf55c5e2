#!/usr/bin/env bash
# Precision and recall of the findings on planted causes, clean and with noise.
set -euo pipefail
python3 analysis/tests/check_plants.py "$CUTLINE"
