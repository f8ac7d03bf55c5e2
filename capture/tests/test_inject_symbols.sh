#!/usr/bin/env bash
# The injected library shows its entry points and nothing else: the driver skips a hidden one without a word, and a further one could
# take the place of a function of the program. It needs nothing but libc (and the sanitizers, where built with them).
set -euo pipefail
library=$CUTLINE_BUILD/libcutline_inject.so
diff - <(nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort) <<'END'
InitializeInjection
InitializeInjectionNvtx
InitializeInjectionNvtx2
InitializeInjectionNvtxExtension
END
if [ -z "${CUTLINE_SANITIZE:-}" ]; then
    diff - <(readelf -d "$library" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^ld-') <<'END'
libc.so.6
END
fi
readelf -d "$library" | grep -q NODELETE
# Functions that the recorder must never use: it is a guest in the program.
if nm -D --undefined-only "$library" | awk '{print $2}' | sed 's/@.*//' |
    grep -xE 'exit|_exit|abort|printf|puts|perror|signal|sigaction|setenv|putenv|unsetenv|chdir|system'; then
    echo "the library uses a function that changes the program" >&2
    exit 1
fi
echo "symbols as intended"
