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
echo "ok"
