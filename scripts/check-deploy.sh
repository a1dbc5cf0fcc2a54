#!/usr/bin/env bash
# Checks what a fleet in containers is made of, without containers: docker-compose.yml, and Prometheus' configuration
# and alarms with their own tests. Needs docker-compose and promtool; scripts/install.sh brings both.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in docker-compose promtool; do
    if ! command -v "$tool" >/dev/null; then
        echo "check-deploy.sh: $tool is not installed; run scripts/install.sh" >&2
        exit 3
    fi
done

work="$(mktemp -d "${TMPDIR:-/tmp}/fanfare-deploy.XXXXXX")"
trap 'rm -rf "$work"' EXIT

# compose ENV_FILE COMMAND…: with that file as .env, and no other variables.
compose() {
    cp "$1" "$work/.env"
    shift
    env -i PATH="$PATH" HOME="$work" docker-compose --project-directory "$work" -f docker-compose.yml "$@"
}

required=(POSTGRES_PASSWORD REDIS_PASSWORD FANFARE_MASTER_KEY FANFARE_MEDIA_ACCESS_KEY FANFARE_MEDIA_SECRET_KEY FANFARE_BASE_URL)
for name in "${required[@]}"; do
    echo "$name=value-of-$name"
done >"$work/all"
echo "FANFARE_X_CLIENT_ID=id-of-an-app" >>"$work/all"
compose "$work/all" --profile sandbox config >"$work/read"
for service in migrate api worker sandbox; do
    sed -n "/^  $service:/,/^  [a-z]*:\$/p" "$work/read" | grep -q "id-of-an-app" ||
        { echo "check-deploy.sh: a variable of .env does not reach $service" >&2 && exit 1; }
done
for name in "${required[@]}"; do
    grep -q "value-of-$name" "$work/read" || { echo "check-deploy.sh: docker-compose.yml does not use $name" >&2 && exit 1; }
    # An empty secret must be as loud as a missing one.
    grep -v "^$name=" "$work/all" >"$work/without"
    echo "$name=" >>"$work/without"
    if compose "$work/without" config >/dev/null 2>"$work/said" || ! grep -q "set $name in .env" "$work/said"; then
        cat "$work/said" >&2
        echo "check-deploy.sh: docker-compose.yml starts without $name, or does not say what is missing" >&2
        exit 1
    fi
    grep -q "^# $name=" .env.example || { echo "check-deploy.sh: .env.example does not name $name" >&2 && exit 1; }
done
echo "docker-compose.yml: read, and refused without any of ${#required[@]} variables"

quietly() {
    "$@" >"$work/said" 2>&1 || { cat "$work/said" >&2 && exit 1; }
}
quietly promtool check config deploy/prometheus.yml
quietly promtool check rules deploy/alerts.yml
quietly promtool test rules deploy/alerts.test.yml
echo "deploy/: configuration and alarms read, and the alarms' tests pass"
