#!/usr/bin/env bash
# Runs a command and prints what it took: scripts/timed.sh NAME COMMAND…
# The line is added to the file TIMES as well, if one is named.
set -uo pipefail
name="$1"
shift
begun=$SECONDS
"$@"
status=$?
outcome=passed
[ "$status" -eq 0 ] || outcome="failed ($status)"
took=$((SECONDS - begun))
printf '== %s %s after %d min %02d s\n' "$name" "$outcome" $((took / 60)) $((took % 60)) | tee -a ${TIMES:+"$TIMES"}
exit "$status"
