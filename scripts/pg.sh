#!/usr/bin/env bash
# A private PostgreSQL: scripts/pg.sh [--port N] [--keep DIR] [postgres options, such as -c max_connections=500]
# Prints its URL when it answers, and stops on SIGTERM or at the end of a piped stdin. Its data is removed then,
# unless --keep names the folder for it: started again with the same --keep and --port, it is the same server.
set -euo pipefail
# shellcheck source=scripts/lifetime.sh
. "$(dirname "$0")/lifetime.sh"

port="" keep=""
while [ $# -gt 0 ]; do
    case "$1" in
    --port) port="$2" ;;
    --keep) keep="$2" ;;
    *) break ;;
    esac
    shift 2
done

bin="$(find /usr/lib/postgresql/*/bin -maxdepth 0 2>/dev/null | sort -V | tail -n 1)"
[ -n "$bin" ] || bin="$(dirname "$(command -v postgres || echo /missing/postgres)")"
if [ ! -x "$bin/initdb" ]; then
    echo "pg.sh: no PostgreSQL server found; run scripts/install.sh" >&2
    exit 3
fi

user="$(unprivileged postgres)"
home="${keep:-$(mktemp -d "${TMPDIR:-/tmp}/fanfare-pg.XXXXXX")}"
mkdir -p "$home"
[ "$(id -u)" -ne 0 ] || chown "$user" "$home"
cd "$home"
home="$PWD"
server=
finish() {
    [ -z "$server" ] || stop_server "$server" INT
    cd /
    [ -n "$keep" ] || rm -rf "$home"
}
trap finish EXIT

if [ ! -e data/PG_VERSION ]; then
    (run_as "$user" "$bin/initdb" -D "$home/data" -U fanfare -A trust -E UTF8 --locale=C.UTF-8 --no-sync) \
        >"$home/initdb.log" 2>&1 || { cat "$home/initdb.log" >&2; exit 1; }
fi

# Its own socket proves that the one that answers is ours, even if another program has taken the port.
answers() {
    local left=600
    until "$bin/pg_isready" -q -h "$home" -p "$port"; do
        kill -0 "$server" 2>/dev/null && [ "$left" -gt 0 ] || return 1
        sleep 0.05
        left=$((left - 1))
    done
}

start() {
    SIGNAL=INT run_as "$user" "$bin/postgres" -D "$home/data" -k "$home" -p "$port" \
        -c listen_addresses=127.0.0.1 -c fsync=on -c max_connections=300 "$@"
}

tries="${port:+1}"
for _ in $(seq "${tries:-5}"); do
    [ -n "$tries" ] || port="$(free_port)"
    start "$@" >>"$home/postgres.log" 2>&1 &
    server=$!
    if answers; then
        break
    fi
    stop_server "$server" INT
    server=
done
if [ -z "$server" ]; then
    tail -n 20 "$home/postgres.log" >&2
    echo "pg.sh: PostgreSQL did not start" >&2
    exit 1
fi

sql() {
    "$bin/psql" -qAt -h "$home" -p "$port" -U fanfare -d postgres -c "$1"
}
[ -n "$(sql "SELECT 1 FROM pg_database WHERE datname = 'fanfare'")" ] || sql "CREATE DATABASE fanfare"
echo "postgres://fanfare@127.0.0.1:$port/fanfare"
until_stopped "$server" || {
    tail -n 20 "$home/postgres.log" >&2
    echo "pg.sh: PostgreSQL ended by itself" >&2
    exit 1
}
