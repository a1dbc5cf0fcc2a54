#!/usr/bin/env bash
# A fleet on this machine, all of it private: scripts/fleet.sh [--api N] [--workers N] [--binary PATH] [-- WORKER OPTIONS]
# PostgreSQL, Redis, simulated networks, api processes (2) and worker processes (4). The first line it prints is JSON
# for programs: addresses, an API key, and each process with its id. Lines for people follow.
# It stops on Ctrl-C, SIGTERM or the end of a piped stdin, workers first and servers last; nothing is left behind, also
# when this script is killed. A process that ends earlier is named and not replaced.
# FANFARE_LOG, FANFARE_LIMITS_FACTOR and the like are passed on to every process.
set -euo pipefail
root="$(cd "$(dirname "$0")/.." && pwd)"
# shellcheck source=scripts/lifetime.sh
. "$root/scripts/lifetime.sh"

apis=2 workers=4 binary="${CARGO_TARGET_DIR:-$root/target}/debug/fanfare" options=()
while [ $# -gt 0 ]; do
    case "$1" in
    --api) apis="$2" ;;
    --workers) workers="$2" ;;
    --binary) binary="$2" ;;
    --)
        shift
        options=("$@")
        break
        ;;
    *)
        echo "usage: scripts/fleet.sh [--api N] [--workers N] [--binary PATH] [-- WORKER OPTIONS]" >&2
        exit 2
        ;;
    esac
    shift 2
done
case "$apis$workers" in
*[!0-9]*) echo "fleet.sh: --api and --workers take numbers" >&2 && exit 2 ;;
esac
[ "$apis" -gt 0 ] || { echo "fleet.sh: at least one api process is needed" >&2 && exit 2; }
if [ ! -x "$binary" ]; then
    echo "fleet.sh: there is no $binary; run \`cargo build\`, or name one with --binary" >&2
    exit 3
fi

home="$(mktemp -d "${TMPDIR:-/tmp}/fanfare-fleet.XXXXXX")"
names=() pids=() metrics=() tells=() servers=()
# Removes the folder when the last process that holds this pipe has ended, however that came about.
exec 7> >(exec setsid bash -c 'cat >/dev/null; rm -rf "$1"' remover "$home")
remover=$!

# Workers end while the servers they write to still run. Those read a pipe that this script holds.
finish() {
    local pid left=450
    for pid in "${pids[@]}"; do
        kill -s TERM "$pid" 2>/dev/null || true
    done
    for pid in "${pids[@]}"; do
        while kill -0 "$pid" 2>/dev/null && [ "$left" -gt 0 ]; do
            sleep 0.1
            left=$((left - 1))
        done
        kill -s KILL "$pid" 2>/dev/null || true
    done
    exec 7>&- 8>&-
    for pid in "${servers[@]}" "$remover"; do
        while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    done
}
trap finish EXIT

# said FILE: waits for the first line of a process, which it prints when it is ready.
said() {
    local left=1200
    until [ -s "$home/$1" ]; do
        if [ "$left" -eq 0 ] || { [ -n "${2:-}" ] && ! kill -0 "$2" 2>/dev/null; }; then
            [ ! -e "$home/$1.log" ] || tail -n 20 "$home/$1.log" >&2
            echo "fleet.sh: $1 did not start" >&2
            exit 1
        fi
        sleep 0.05
        left=$((left - 1))
    done
    head -n 1 "$home/$1"
}

# A Ctrl-C on the terminal reaches every process of the foreground group; the servers must not hear it before the
# workers have ended, so each is the head of a session of its own.
mkfifo "$home/hold"
exec 8<>"$home/hold"
setsid "$root/scripts/pg.sh" <"$home/hold" >"$home/postgres" 2>"$home/postgres.log" 8>&- &
servers+=($!)
setsid "$root/scripts/redis.sh" <"$home/hold" >"$home/redis" 2>"$home/redis.log" 8>&- &
servers+=($!)
FANFARE_DATABASE_URL="$(said postgres "${servers[0]}")"
FANFARE_REDIS_URL="$(said redis "${servers[1]}")"
FANFARE_MASTER_KEY="$(head -c 32 /dev/urandom | base64 -w 0)"
FANFARE_MEDIA_URL="file://$home/media"
FANFARE_DATA_DIR="$home/data"
addresses=()
for ((i = 0; i < apis; i++)); do
    addresses+=("127.0.0.1:$(free_port)")
done
sandbox="127.0.0.1:$(free_port)"
# Links in replies, and what every worker must agree on: the first api's address.
FANFARE_BASE_URL="http://${addresses[0]}"
FANFARE_SANDBOX_URL="http://$sandbox"
FANFARE_SANDBOX_SECRET="$(head -c 32 /dev/urandom | base64 -w 0)"
export FANFARE_DATABASE_URL FANFARE_REDIS_URL FANFARE_MASTER_KEY FANFARE_MEDIA_URL FANFARE_DATA_DIR \
    FANFARE_BASE_URL FANFARE_SANDBOX_URL FANFARE_SANDBOX_SECRET
mkdir -p "$home/media" "$home/data"

"$binary" migrate >"$home/migrate" 2>&1 || { cat "$home/migrate" >&2 && exit 1; }
key="$("$binary" key create --email owner@localhost --name fleet 2>"$home/key.log")" ||
    { cat "$home/key.log" >&2 && exit 1; }

# start NAME LISTEN METRICS COMMAND…: a process with its output in files of its name. Should this script be killed, so is
# it: its servers go then too, and it would wait for them.
start() {
    local name="$1" listen="$2" measured="$3"
    shift 3
    FANFARE_LISTEN="$listen" FANFARE_METRICS_LISTEN="$measured" \
        setsid setpriv --pdeathsig KILL -- "$binary" "$@" \
        >"$home/$name" 2>"$home/$name.log" </dev/null 8>&- &
    names+=("$name") pids+=($!) metrics+=("$measured")
    tells+=("${measured:+metrics at http://$measured/metrics}")
}

start sandbox "$sandbox" "" sandbox
tells[0]="http://$sandbox"
for address in "${addresses[@]}"; do
    start "api-${#names[@]}" "$address" "127.0.0.1:$(free_port)" api
    tells[-1]="http://$address, ${tells[-1]}"
done
for ((i = 1; i <= workers; i++)); do
    start "worker-$i" 127.0.0.1:0 "127.0.0.1:$(free_port)" worker "${options[@]}"
done
for i in "${!names[@]}"; do
    said "${names[i]}" "${pids[i]}" >/dev/null
done

# The line for programs. Nothing in it needs escaping.
list=""
for i in "${!names[@]}"; do
    list+="${list:+, }{\"name\": \"${names[i]}\", \"pid\": ${pids[i]}, \"metrics\": \"${metrics[i]}\", \"log\": \"$home/${names[i]}.log\"}"
done
origins="$(printf ', "http://%s"' "${addresses[@]}")"
printf '{"api": [%s], "key": "%s", "sandbox": "%s", "sandbox_secret": "%s", "database_url": "%s", "redis_url": "%s", "processes": [%s]}\n' \
    "${origins:2}" "$key" "$FANFARE_SANDBOX_URL" "$FANFARE_SANDBOX_SECRET" "$FANFARE_DATABASE_URL" "$FANFARE_REDIS_URL" "$list"

say_for_people() {
    local i one="http://${addresses[0]}" other="http://${addresses[-1]}"
    echo
    echo "API key: $key"
    echo
    cat <<END
curl -s -X POST $one/api/v1/sandbox/accounts -H 'Authorization: Bearer $key' -H 'Content-Type: application/json' -d '{"platform": "bluesky"}'
curl -s -X POST $other/api/v1/posts -H 'Authorization: Bearer $key' -H 'Content-Type: application/json' -d '{"account_id": 1, "caption": "Hello from a fleet"}'
curl -s '$one/api/v1/sandbox/bluesky/posts?account_id=1' -H 'Authorization: Bearer $key'
END
    echo
    for i in "${!names[@]}"; do
        printf '%-10s pid %-8s %s\n' "${names[i]}" "${pids[i]}" "${tells[i]}"
    done
    echo "Logs are in $home until the end. Ctrl-C stops everything."
}
say_for_people

# Stopped: `wait` comes back at once.
stop=
trap 'stop=1' TERM INT HUP
if [ -p /dev/stdin ] || [ -S /dev/stdin ]; then
    setpriv --pdeathsig TERM -- cat <&0 >/dev/null 7>&- 8>&- &
else
    setpriv --pdeathsig TERM -- sleep infinity 7>&- 8>&- &
fi
watcher=$!
watch() {
    local ended status=0
    wait -n -p ended "$watcher" "${servers[@]}" "${pids[@]}" || status=$?
    [ -z "$stop" ] && [ "${ended:-$watcher}" != "$watcher" ] || return 1
    for i in "${!servers[@]}"; do
        [ "${servers[i]}" != "$ended" ] || { echo "fleet.sh: a server ended, so all ends" >&2 && exit 1; }
    done
    for i in "${!pids[@]}"; do
        [ "${pids[i]}" = "$ended" ] || continue
        echo "${names[i]} (pid $ended) ended with status $status"
        unset "pids[i]"
    done
}
while watch; do :; done
kill "$watcher" 2>/dev/null || true
