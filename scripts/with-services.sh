#!/usr/bin/env bash
# Runs a command with a private PostgreSQL and Redis: scripts/with-services.sh COMMAND…
# Their addresses are in TEST_POSTGRES_URL and TEST_REDIS_URL. Both end with this script, however it ends: it holds the
# pipes they read from.
set -euo pipefail
here="$(dirname "$0")"
said="$(mktemp -d "${TMPDIR:-/tmp}/fanfare-services.XXXXXX")"
trap 'rm -rf "$said"' EXIT

exec 8> >(exec "$here/pg.sh" >"$said/postgres")
exec 9> >(exec "$here/redis.sh" --databases 4096 >"$said/redis")

answered() {
    local left=1200
    until [ -s "$said/$1" ]; do
        [ "$left" -gt 0 ] || { echo "with-services.sh: $1 did not start; run scripts/install.sh" >&2; exit 1; }
        sleep 0.05
        left=$((left - 1))
    done
    cat "$said/$1"
}
TEST_POSTGRES_URL="$(answered postgres)"
TEST_REDIS_URL="$(answered redis)"
export TEST_POSTGRES_URL TEST_REDIS_URL

status=0
"$@" 8>&- 9>&- || status=$?
exit "$status"
