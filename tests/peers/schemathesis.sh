#!/usr/bin/env bash
# Holds a running service to its own document with schemathesis, which other people wrote: tests/peers/schemathesis.sh ORIGIN KEY EXAMPLES
# Prints its report; fails when an answer is none that the document names, or a bad request is not refused.
set -euo pipefail

cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"
program="$cache/schemathesis-4.32.5/bin/python"
[ -x "$program" ] || {
    echo "schemathesis.sh: schemathesis is not there; run scripts/install.sh --peers" >&2
    exit 3
}

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
# These are documented: somebody else did not answer, or a copy of media takes longer and is asked for again.
cat >schemathesis.toml <<'CONFIG'
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "502", "503", "504"]
[checks.negative_data_rejection]
expected-statuses = ["4xx"]
CONFIG
"$program" -m schemathesis.cli run "$1/openapi.json" --header "Authorization: Bearer $2" \
    --phases examples,coverage,fuzzing --max-examples "$3" --continue-on-failure --request-timeout 60 --no-color \
    --suppress-health-check all \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,response_schema_conformance,unsupported_method,ignored_auth,negative_data_rejection,missing_required_header,allow_header_conformance
