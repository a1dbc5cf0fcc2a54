#!/usr/bin/env bash
# Judges a service's OpenAPI document with linters that other people wrote, makes clients of it with their generators, checks
# the types of these, and works with each: tests/peers/generators/run.sh ORIGIN KEY ACCOUNT
# ACCOUNT is the id of a simulated Bluesky account. Prints what each part took; fails where one of them fails.
set -euo pipefail

here="$(cd "$(dirname "$0")" && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"
# The programs in these environments know the folder that they were made in, so Python runs their modules.
python="$cache/openapi-python-client-0.29.1/bin/python"
java="$cache/openapi-generator-cli-7.26.0/bin/python"
modules="$here/node_modules"
for program in "$python" "$java" "$modules/.bin/redocly"; do
    [ -x "$program" ] || {
        echo "run.sh: $program is not there; run scripts/install.sh --peers" >&2
        exit 3
    }
done
node="$("$here/../../../scripts/node.sh" --which)"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cp -r "$here/stories" "$here/tsconfig.json" "$here/spectral.yaml" "$here/package.json" \
    "$here/openapi-ts.config.mjs" "$work/"
ln -s "$modules" "$work/node_modules"
cd "$work"
curl --silent --show-error --fail "$1/openapi.json" >openapi.json

# part NAME COMMAND...: runs a part; its output is shown when it fails.
part() {
    local name="$1" began="$SECONDS"
    shift
    if ! "$@" >"$work/output" 2>&1; then
        cat "$work/output" >&2
        echo "run.sh: $name failed" >&2
        exit 1
    fi
    echo "$name: $((SECONDS - began)) s"
}

tool() {
    local name="$1"
    shift
    REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true "$node" "$(readlink -f "$modules/.bin/$name")" "$@"
}

# generate LANGUAGE FOLDER [OPTION...]: runs openapi-generator.
generate() {
    "$java" -c "from openapi_generator_cli import cli; cli()" generate -i openapi.json -g "$1" -o "$2" "${@:3}"
}

part "openapi-spec-validator" "$python" -m openapi_spec_validator openapi.json
part "redocly" tool redocly lint openapi.json
part "spectral" tool spectral lint openapi.json --ruleset spectral.yaml --fail-severity warn

part "openapi-python-client" "$python" -m openapi_python_client generate --path openapi.json \
    --output-path fanfare_client --meta none
part "openapi-generator python" generate python python
part "openapi-generator typescript-fetch" generate typescript-fetch typescript-fetch \
    --additional-properties=importFileExtension=.js
part "openapi-typescript" tool openapi-typescript openapi.json -o schema.d.ts
part "hey-api" tool openapi-ts --file openapi-ts.config.mjs

cp -r python/openapi_client .
part "types in TypeScript" tool tsc -p tsconfig.json
part "types in Python" "$python" -m mypy --strict-equality --follow-imports=silent stories/*.py

part "work with openapi-python-client" env PYTHONPATH=. "$python" stories/openapi_python_client.py "$@"
part "work with openapi-generator python" env PYTHONPATH=. "$python" stories/openapi_generator.py "$@"
for story in typescript_fetch openapi_fetch hey_api; do
    part "work with $story" "$node" "built/stories/$story.js" "$@"
done
