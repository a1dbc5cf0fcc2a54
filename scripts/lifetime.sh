# shellcheck shell=bash
# Sourced by the scripts that start a private server: loopback ports, an unprivileged user, and an end that
# always comes (SIGTERM, SIGINT, or the end of stdin when that is a pipe, so a killed test leaves nothing behind).

# Stopped while still starting: the step in hand ends first, or it would write into what we remove.
trap 'exit 143' TERM INT HUP

# A port below the ephemeral range that nobody answers on now.
free_port() {
    local port
    while :; do
        port=$((15000 + RANDOM % 17000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
}

# The user servers run as: ourselves, or when we are root the first of the named ones that exists.
unprivileged() {
    local user
    if [ "$(id -u)" -ne 0 ]; then
        id -un
        return
    fi
    for user in "$@" nobody; do
        if id "$user" >/dev/null 2>&1; then
            echo "$user"
            return
        fi
    done
}

# run_as USER COMMAND…: replaces this shell. The server gets SIGNAL (TERM by default) should we die first.
run_as() {
    local user="$1"
    shift
    local flags=(--pdeathsig "${SIGNAL:-TERM}")
    if [ "$(id -u)" -eq 0 ] && [ "$user" != root ]; then
        flags+=(--reuid "$user" --regid "$(id -g "$user")" --init-groups)
    fi
    exec setpriv "${flags[@]}" -- "$@"
}

# until_stopped PID…: returns when we are to stop, and fails when one of the servers ended by itself.
until_stopped() {
    local stop=
    trap 'stop=1' TERM INT HUP
    if [ -p /dev/stdin ] || [ -S /dev/stdin ]; then
        cat <&0 >/dev/null &
    else
        sleep infinity &
    fi
    local watcher=$!
    wait -n "$watcher" "$@" || true
    if [ -z "$stop" ] && kill -0 "$watcher" 2>/dev/null; then
        kill "$watcher"
        return 1
    fi
    kill "$watcher" 2>/dev/null || true
}

# stop_server PID SIGNAL: asks it to end and waits ten seconds before it insists.
stop_server() {
    local left=100
    kill -s "$2" "$1" 2>/dev/null || return 0
    while kill -0 "$1" 2>/dev/null && [ "$left" -gt 0 ]; do
        sleep 0.1
        left=$((left - 1))
    done
    kill -s KILL "$1" 2>/dev/null || true
}
