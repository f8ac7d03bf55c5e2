#!/usr/bin/env bash
# The GPU smoke test, where there is a GPU.
exec bash capture/tests/gpu/smoke.sh "$CUTLINE_BUILD"
