#!/usr/bin/env bash
# Puts the npm packages of one peer in place: scripts/peer-modules.sh pds|bullmq|agents|generators|accessibility|vendors
# They are kept outside the tree, one copy for each lock file and Node, so a fresh clone need not build again.
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
peer="$root/tests/peers/$1"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"
node="$("$root/scripts/node.sh" --which)"

if [ -d "$peer/node_modules" ] && [ ! -L "$peer/node_modules" ]; then
    echo "peer-modules: $1 has a node_modules of its own, left as it is"
    exit
fi

# Install scripts stay off, as most of them download; the one C++ part is built from its packed source.
build_sqlite() {
    [ -d node_modules/better-sqlite3 ] || return 0
    (
        cd node_modules/better-sqlite3
        "$node" ../node-gyp/bin/node-gyp.js rebuild --release \
            --nodedir="$(dirname "$(dirname "$node")")"
        rm -rf build/Release/obj build/Release/obj.target build/deps
    )
}

key="$(cat "$peer/package.json" "$peer/package-lock.json" <("$node" -p 'process.version + process.arch') |
    sha256sum | cut -c1-16)"
home="$cache/$1-$key"
if [ ! -e "$home" ]; then
    mkdir -p "$cache"
    work="$(mktemp -d "$cache/.$1.XXXXXX")"
    trap 'rm -rf "$work"' EXIT
    cp "$peer/package.json" "$peer/package-lock.json" "$peer/.npmrc" "$work/"
    cd "$work"
    if ! { npm ci --ignore-scripts && build_sqlite; } >"$work/install.log" 2>&1; then
        tail -n 30 "$work/install.log" >&2
        echo "peer-modules: the packages of $1 could not be installed" >&2
        exit 1
    fi
    mv -T "$work" "$home" || [ -d "$home" ]
fi
ln -sfn "$home/node_modules" "$peer/node_modules"
