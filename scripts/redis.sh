#!/usr/bin/env bash
# A private Redis that keeps nothing on disk: scripts/redis.sh [--port N] [redis-server options]
# Prints its URL when it answers, and stops on SIGTERM or at the end of a piped stdin. Its folder is removed then.
set -euo pipefail
# shellcheck source=scripts/lifetime.sh
. "$(dirname "$0")/lifetime.sh"

port=
if [ "${1:-}" = --port ]; then
    port="$2"
    shift 2
fi
if ! command -v redis-server >/dev/null; then
    echo "redis.sh: no redis-server found; run scripts/install.sh" >&2
    exit 3
fi

user="$(unprivileged redis)"
home="$(mktemp -d "${TMPDIR:-/tmp}/fanfare-redis.XXXXXX")"
[ "$(id -u)" -ne 0 ] || chown "$user" "$home"
server=
finish() {
    [ -z "$server" ] || stop_server "$server" TERM
    rm -rf "$home"
}
trap finish EXIT

# Asked over its own socket, as another server may have taken the port.
answers() {
    local left=200
    until [ "$(redis-cli -s "$home/redis.sock" ping 2>/dev/null)" = PONG ]; do
        kill -0 "$server" 2>/dev/null && [ "$left" -gt 0 ] || return 1
        sleep 0.05
        left=$((left - 1))
    done
}

tries="${port:+1}"
for _ in $(seq "${tries:-5}"); do
    [ -n "$tries" ] || port="$(free_port)"
    run_as "$user" redis-server --bind 127.0.0.1 --port "$port" --unixsocket "$home/redis.sock" \
        --dir "$home" --save "" --appendonly no "$@" >>"$home/redis.log" 2>&1 &
    server=$!
    if answers; then
        break
    fi
    stop_server "$server" TERM
    server=
done
if [ -z "$server" ]; then
    tail -n 20 "$home/redis.log" >&2
    echo "redis.sh: Redis did not start" >&2
    exit 1
fi

echo "redis://127.0.0.1:$port"
until_stopped "$server" || {
    tail -n 20 "$home/redis.log" >&2
    echo "redis.sh: Redis ended by itself" >&2
    exit 1
}
