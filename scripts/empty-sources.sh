#!/usr/bin/env bash
# Leaves of a checkout only what cargo needs to build its dependencies: manifests, the lock file, and targets that are
# empty. For the image's dependency layer, which must not change with the code. Only ever run on a copy.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -e .git ]; then
    echo "empty-sources.sh: this is a checkout, not a copy of one; nothing is touched" >&2
    exit 2
fi
find . -type f ! -name Cargo.toml ! -name Cargo.lock ! -path './scripts/empty-sources.sh' -delete
find . -mindepth 1 -type d -empty -delete
find . -name Cargo.toml -printf '%h\n' | while read -r crate; do
    mkdir -p "$crate/src"
    : >"$crate/src/lib.rs"
done
echo 'fn main() {}' >src/main.rs
# Targets that a manifest names by their path.
sed -n 's/^path = "\(.*\.rs\)"$/\1/p' Cargo.toml | while read -r target; do
    mkdir -p "$(dirname "$target")"
    echo 'fn main() {}' >"$target"
done
