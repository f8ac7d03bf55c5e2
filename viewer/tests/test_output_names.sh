#!/usr/bin/env bash
# Where output goes, whatever a capture is called: only what a person typed may be a command, and only
# with --force-overwrite is anything written over.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
cd "$work"

for base in '@touch run;' '@touch run;exit 0 #' '-' '--help' '-o' "it's \$(touch run)" '|touch run'; do
    cp "$CUTLINE_BUILD/demo.sqlite" "./$base.sqlite"
    "$CUTLINE" stats -q -r cuda_gpu_sum -f csv -o . -- "$base.sqlite" || fail "stats of $base"
    "$CUTLINE" analyze -q -r gpu_gaps -f json -o . -- "$base.sqlite" || fail "analyze of $base"
    "$CUTLINE" analyze -q -f csv -o . -- "$base.sqlite" || fail "findings of $base"
    "$CUTLINE" diff -q -f csv -o . -- "$base.sqlite" "$base.sqlite" || fail "diff of $base"
    for file in cuda_gpu_sum.csv gpu_gaps.json findings.csv diff.csv; do
        [ -s "./${base}_$file" ] || fail "no file ${base}_$file"
    done
    # What the program says to type names the file, and no part of the name is an option or a command.
    "$CUTLINE" analyze -- "$base.sqlite" | sed -n 's/^ *See: //; T; s/ (key . in the timeline)$//; p' >lines
    [ -s lines ] || fail "no command in the findings of $base"
    while read -r line; do
        (eval "set -- $line" && [ "${!#}" -ef "./$base.sqlite" ] && [[ ${!#} != -* ]]) ||
            fail "not the file $base: $line"
    done <lines
    [ ! -e run ] || fail "the name $base was run"
done

# A link or a pipe in the place of a new file: neither is followed, written to or waited for.
capture=$CUTLINE_BUILD/demo.sqlite
ln -s target out_cuda_gpu_sum.csv
mkfifo out_gpu_gaps.csv export.json
refused() { ! "$CUTLINE" "$@" 2>err && grep -q 'is there already; --force-overwrite' err || fail "$* wrote"; }
refused stats -q -r cuda_gpu_sum -o out "$capture"
refused analyze -q -r gpu_gaps -o out "$capture"
refused export -o export.json "$capture"
[ ! -e target ] || fail "a link was followed"

# A command that a person types is one, in every command.
"$CUTLINE" stats -q -r cuda_gpu_sum -f csv -o '@wc -l >1' "$capture"
"$CUTLINE" analyze -q -r gpu_gaps -f csv -o '@wc -l >2' "$capture"
"$CUTLINE" diff -q -f csv -o '@wc -l >3' "$capture" "$capture"
"$CUTLINE" export -t csv -o '@wc -l >4' "$capture"
for i in 1 2 3 4; do [ "$(cat $i)" -ge 1 ] || fail "the command $i saw nothing"; done
echo ok
