#!/usr/bin/env bash
# Runs a command and prints what it took: scripts/timed.sh NAME COMMAND…
set -uo pipefail
name="$1"
shift
begun=$SECONDS
"$@"
status=$?
outcome=passed
[ "$status" -eq 0 ] || outcome="failed ($status)"
printf '== %s %s after %d min %02d s\n' "$name" "$outcome" $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60))
exit "$status"
