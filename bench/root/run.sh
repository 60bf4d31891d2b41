#!/usr/bin/env bash
# What a call with a million events costs from an interpreted macro, beside the same call from C:
# ten runs of each, alternately, the shortest of 20 calls in each run.
# usage: LIBMODE=PREFIX bench/root/run.sh    (with gcc, and ROOT's root on PATH)
set -euo pipefail
: "${LIBMODE:?set it to where include/mode.h and lib/libmode.so are}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ln -s "$LIBMODE/lib/libmode.so" libmode.so.1 # the name that the loader asks for
"${CC:-gcc}" -O2 -I"$LIBMODE/include" "$here/call_cost.c" libmode.so.1 -Wl,-rpath,"$work" -o call_cost
for _ in 1 2 3 4 5 6 7 8 9 10; do
    ./call_cost >>c.txt
    root -l -b -q "$here/macro.C" 2>/dev/null | grep '^ms' >>macro.txt
done
shortest() { awk '{ print $2 }' "$1" | sort -g | head -n 1; }
c=$(shortest c.txt) macro=$(shortest macro.txt)
paste c.txt macro.txt | awk '{ print "C", $2, "ms   macro", $4, "ms" }'
awk -v c="$c" -v macro="$macro" 'BEGIN { printf "shortest: C %.2f ms, macro %.2f ms, ratio %.3f\n", c, macro, macro / c }'
