#!/usr/bin/env bash
# Runs the Node the peers are built for: 20 to 22, with its headers beside it (the PDS has a part in C++).
# That is the one on PATH if it fits, else the one `scripts/install.sh --peers` fetched.
# `scripts/node.sh --which` prints its path instead; exit 3 when there is none.
set -euo pipefail

cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"

fits() {
    [ -x "$1" ] || return 1
    local major prefix
    major="$("$1" -p 'process.versions.node.split(".")[0]')" || return 1
    prefix="$(dirname "$(dirname "$(readlink -f "$1")")")"
    [ "$major" -ge 20 ] && [ "$major" -le 22 ] &&
        grep -qs "NODE_MAJOR_VERSION $major\$" "$prefix/include/node/node_version.h"
}

for candidate in "$(command -v node || true)" "$cache/node/bin/node"; do
    if fits "$candidate"; then
        if [ "${1:-}" = --which ]; then
            readlink -f "$candidate"
            exit
        fi
        exec "$candidate" "$@"
    fi
done
echo "node.sh: no Node 20 to 22 with headers; run scripts/install.sh --peers" >&2
exit 3
