#!/usr/bin/env bash
# Runs localstripe, a Stripe in Python that other people wrote, on a free port of loopback; prints its address when it answers.
set -euo pipefail

cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"
program="$cache/localstripe-1.15.10/bin/python"
[ -x "$program" ] || {
    echo "localstripe.sh: localstripe is not there; run scripts/install.sh --peers" >&2
    exit 3
}

port="$("$program" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
work="$(mktemp -d)"
cd "$work"
# Its own command listens on every interface.
"$program" - "$port" >"$work/log" 2>&1 <<'PYTHON' &
import sys
from aiohttp import web
from localstripe.resources import Store
from localstripe.server import app

# It would keep everything in one file for all who run it.
Store.dump_to_disk = lambda self: None
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), print=None)
PYTHON
child=$!
trap 'kill "$child" 2>/dev/null || true; wait "$child" 2>/dev/null || true; rm -rf "$work"' EXIT
trap 'exit 0' TERM INT

for _ in $(seq 600); do
    curl -fsS -u sk_test_fanfare: "http://127.0.0.1:$port/v1/products" >/dev/null 2>&1 && break
    kill -0 "$child" 2>/dev/null || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
done
echo "{\"url\": \"http://127.0.0.1:$port\"}"
if [ -p /dev/stdin ]; then cat >/dev/null; else wait "$child"; fi
