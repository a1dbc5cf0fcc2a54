#!/usr/bin/env bash
# Runs the Node of this peer: the conformance suites of MCP need 22, which npm brings.
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
case "$(uname -m)" in
x86_64) machine=x64 ;;
aarch64) machine=arm64 ;;
*) machine=none ;;
esac
node="$here/node_modules/node-linux-$machine/bin/node"
[ -x "$node" ] || {
    echo "node.sh: Node 22 is not there; run scripts/install.sh --peers" >&2
    exit 3
}
exec "$node" "$@"
