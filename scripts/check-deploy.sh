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

required=(POSTGRES_PASSWORD REDIS_PASSWORD STORAGE_ROOT_PASSWORD FANFARE_MASTER_KEY FANFARE_MEDIA_ACCESS_KEY FANFARE_MEDIA_SECRET_KEY FANFARE_BASE_URL)
for name in "${required[@]}"; do
    echo "$name=value-of-$name"
done >"$work/all"
echo "FANFARE_X_CLIENT_SECRET=value-of-FANFARE_X_CLIENT_SECRET" >>"$work/all"
echo "FANFARE_SANDBOX_SECRET=value-of-FANFARE_SANDBOX_SECRET" >>"$work/all"
compose "$work/all" --profile sandbox config >"$work/read"

# part SERVICE: what docker-compose makes of one service.
part() {
    sed -n "/^services:/,/^[a-z]*:\$/{/^  $1:\$/,/^  [a-z]*:\$/p}" "$work/read"
}

# only NAME SERVICE…: a secret is in these services and in no other.
services=(migrate api worker sandbox postgres redis storage bucket prometheus)
only() {
    local name="$1" service wanted found
    shift
    for service in "${services[@]}"; do
        [[ " $* " == *" $service "* ]] && wanted=yes || wanted=no
        part "$service" | grep -q "value-of-$name" && found=yes || found=no
        [ "$wanted" = "$found" ] ||
            { echo "check-deploy.sh: $name in $service: $found, and should be: $wanted" >&2 && exit 1; }
    done
}
only POSTGRES_PASSWORD migrate api worker postgres
only REDIS_PASSWORD api worker redis
only STORAGE_ROOT_PASSWORD storage bucket
only FANFARE_MASTER_KEY api worker
only FANFARE_MEDIA_SECRET_KEY api worker bucket
only FANFARE_X_CLIENT_SECRET api worker
only FANFARE_SANDBOX_SECRET api worker sandbox
part api | grep -q "FANFARE_TRUSTED_PROXIES: 172" ||
    { echo "check-deploy.sh: api does not know its proxy" >&2 && exit 1; }
part api | grep -q "host_ip: 127.0.0.1\|127.0.0.1:8080" ||
    { echo "check-deploy.sh: api is published beyond loopback" >&2 && exit 1; }
grep -q '^    FANFARE_SIMULATOR=off' Dockerfile ||
    { echo "check-deploy.sh: the image starts with the simulated networks" >&2 && exit 1; }
if part sandbox | grep -q "ports:" || ! part sandbox | grep -q "profiles:"; then
    echo "check-deploy.sh: the simulated networks start unasked, or their port is published" >&2
    exit 1
fi
# The storage key that the product has opens its bucket and nothing else.
if grep -o '"arn:[^"]*"' deploy/bucket-policy.json | grep -vq '"arn:aws:s3:::fanfare\(/\*\)\?"' || grep -q '"s3:\*"' deploy/bucket-policy.json; then
    echo "check-deploy.sh: deploy/bucket-policy.json allows more than the bucket" >&2
    exit 1
fi
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
