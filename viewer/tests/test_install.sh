#!/usr/bin/env bash
# `cmake --install` puts everything in its place, and what is installed works from there.
set -euo pipefail
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
cmake --install "$CUTLINE_BUILD" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log"; exit 1; }

for file in bin/cutline lib/cutline/libcutline_inject.so share/cutline/demo.sqlite \
    share/bash-completion/completions/cutline share/zsh/site-functions/_cutline \
    share/fish/vendor_completions.d/cutline.fish share/man/man1/cutline.1 \
    share/doc/cutline/LICENSE; do
    [ -s "$prefix/$file" ] || { echo "not installed: $file"; exit 1; }
done
for page in man/*.1; do
    cmp -s "$page" "$prefix/share/man/man1/${page##*/}" || { echo "not installed: $page"; exit 1; }
done
for page in man/*.5; do
    [ -e "$page" ] || continue
    cmp -s "$page" "$prefix/share/man/man5/${page##*/}" || { echo "not installed: $page"; exit 1; }
done
"$prefix/bin/cutline" --version >/dev/null
"$prefix/bin/cutline" info "$prefix/share/cutline/demo.sqlite" >/dev/null
"$prefix/bin/cutline" completion bash | cmp -s - "$prefix/share/bash-completion/completions/cutline" ||
    { echo "the installed bash completion is not the program's"; exit 1; }
# The recorder finds its library where it was installed.
if "$prefix/bin/cutline" help record >/dev/null 2>&1; then
    status=0
    "$prefix/bin/cutline" record -o "$prefix/run" -- sh -c 'exit 7' >"$prefix/out" 2>&1 || status=$?
    [ "$status" -eq 7 ] || { echo "record from the installed place: status $status"; cat "$prefix/out"; exit 1; }
fi
# What is built needs no newer C library than the compiler's start code does (2.34).
for file in bin/cutline lib/cutline/libcutline_inject.so; do
    [ -z "${CUTLINE_SANITIZE:-}" ] && command -v objdump >/dev/null || continue
    newest=$({ objdump -T "$prefix/$file" | grep -o 'GLIBC_[0-9.]*'; echo GLIBC_2.34; } | sort -Vu | tail -1)
    [ "$newest" = GLIBC_2.34 ] || { echo "$file needs $newest"; objdump -T "$prefix/$file" | grep "$newest"; exit 1; }
done
# The header of the file format compiles by what pkg-config says, names the tables that a capture has,
# and takes an id apart.
cat >"$prefix/reader.c" <<'END'
#include <cutline/capture.h>
#include <stdio.h>
#define NAME(TABLE, NAME, WHEN) NAME,
int main(void)
{
    static const char *const names[] = {STORE_TABLES(NAME)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        puts(names[i]);
    }
    int64_t id = cutline_global_pid((INT64_C(1) << 48) + (INT64_C(4242) << 24) + 7);
    return cutline_pid(id) == 4242 && cutline_tid(id) == 0 ? 0 : 1;
}
END
export PKG_CONFIG_PATH=$prefix/share/pkgconfig
flags=$(pkg-config --cflags cutline)
# shellcheck disable=SC2086
"$CUTLINE_CC" -std=c99 -Wall -Wextra -Werror -Wpedantic $flags -o "$prefix/reader" "$prefix/reader.c"
"$prefix/reader" >"$prefix/names"
sqlite3 "$prefix/share/cutline/demo.sqlite" "SELECT name FROM sqlite_master WHERE name GLOB 'C*_KIND_*'" |
    while read -r table; do
        grep -qx "$table" "$prefix/names" || { echo "the header does not name $table"; exit 1; }
    done
echo "ok"
