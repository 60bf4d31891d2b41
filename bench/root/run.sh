#!/usr/bin/env bash
# Times a call on one thread from an interpreted macro and from compiled C, alternately in one process: the
# median of each.
# usage: LIBMODE=PREFIX bench/root/run.sh    (with gcc, and ROOT's root on PATH)
set -euo pipefail
: "${LIBMODE:?set it to where include/mode.h and lib/libmode.so are}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export CALL_LIBRARY=$work/libcall.so
"${CC:-gcc}" -O2 -fPIC -shared -I"$LIBMODE/include" "$here/call.c" -o "$CALL_LIBRARY"
for arguments in 1000000 100000,1000 1000,50000; do
    root -l -b -q "$here/call_cost.C($arguments)" | grep events
done
