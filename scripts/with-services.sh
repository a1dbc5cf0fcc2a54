#!/usr/bin/env bash
# Runs a command with a private PostgreSQL and Redis: scripts/with-services.sh COMMAND…
# Their addresses are in TEST_POSTGRES_URL and TEST_REDIS_URL. When this script ends, however it ends, so do the command
# and both servers, which read pipes that it holds; and it ends when the process that started it does, killed or not.
set -euo pipefail
here="$(dirname "$0")"
if [ "${FOLLOWS_ITS_PARENT:-}" != "$PPID" ]; then
    FOLLOWS_ITS_PARENT="$PPID" exec setpriv --pdeathsig TERM -- "$0" "$@"
fi
unset FOLLOWS_ITS_PARENT

said="$(mktemp -d "${TMPDIR:-/tmp}/fanfare-services.XXXXXX")"
command="" servers=()

# gone PID TENTHS: waits until a process has ended, and says whether it has.
gone() {
    local left="$2"
    while kill -0 "$1" 2>/dev/null; do
        [ "$left" -gt 0 ] || return 1
        sleep 0.1
        left=$((left - 1))
    done
}

# The command ends while the servers it uses still run. The next one starts on a machine without either.
finish() {
    trap '' INT TERM HUP
    if [ -n "$command" ] && kill -s TERM -- "-$command" 2>/dev/null; then
        gone "$command" 50 || kill -s KILL -- "-$command" 2>/dev/null || true
    fi
    exec 8>&- 9>&-
    for server in "${servers[@]}"; do
        gone "$server" 200 || kill -s KILL "$server" 2>/dev/null || true
    done
    rm -rf "$said"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

exec 8> >(exec "$here/pg.sh" >"$said/postgres")
servers+=($!)
# Without the other's pipe, which would keep that one running.
exec 9> >(exec "$here/redis.sh" --databases 4096 >"$said/redis" 8>&-)
servers+=($!)

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

# A group of its own, so that all of it can be ended; in the background, so that a signal is heard at once.
set -m
setpriv --pdeathsig TERM -- "$@" 8>&- 9>&- &
command=$!
set +m
status=0
wait "$command" || status=$?
if [ "$status" -ne 0 ]; then
    for server in "${servers[@]}"; do
        kill -0 "$server" 2>/dev/null || echo "with-services.sh: a server ended before the command did; its last lines are above" >&2
    done
    df -h "${TMPDIR:-/tmp}" >&2
fi
exit "$status"
