#!/usr/bin/env bash
# Starts Debian's WordPress on a private MariaDB, on loopback; see ../README.md for the interface.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
# shellcheck source=scripts/lifetime.sh
. "$here/../../../scripts/lifetime.sh"

PATH="$PATH:/usr/sbin"
source=/usr/share/wordpress
for program in php mariadbd mariadb-install-db mariadb-admin mariadb curl; do
    if ! command -v "$program" >/dev/null || [ ! -e "$source/wp-load.php" ]; then
        echo "wordpress: $program or $source is missing; run scripts/install.sh --peers" >&2
        exit 3
    fi
done

user="$(unprivileged www-data)"
home="$(mktemp -d "${TMPDIR:-/tmp}/fanfare-wordpress.XXXXXX")"
log="$home/log"
database="" web=""
finish() {
    # The web server's workers do not end with it, but they share its process group.
    [ -z "$web" ] || { kill -s TERM -- "-$web" 2>/dev/null || true; }
    [ -z "$database" ] || stop_server "$database" TERM
    cd /
    rm -rf "$home"
}
trap finish EXIT
fail() {
    tail -n 20 "$log" >&2
    echo "wordpress: $1" >&2
    exit 1
}

cp -rL "$source" "$home/site" 2>>"$log" || true # its .htaccess may point nowhere
cp "$here/wp-config.php" "$home/site/wp-config.php"
cp "$here/router.php" "$here/setup.php" "$home/"
cp -r "$here/theme" "$home/site/wp-content/themes/plain"
[ "$(id -u)" -ne 0 ] || chown -R "$user" "$home"
cd "$home/site"

export WORDPRESS_SOCKET="$home/mariadb.sock"
(run_as "$user" mariadb-install-db --no-defaults --datadir="$home/database" --skip-test-db \
    --auth-root-authentication-method=normal) >>"$log" 2>&1 || fail "MariaDB could not make its database"
run_as "$user" mariadbd --no-defaults --datadir="$home/database" --socket="$WORDPRESS_SOCKET" \
    --pid-file="$home/mariadb.pid" --skip-networking --innodb-buffer-pool-size=64M \
    --innodb-flush-log-at-trx-commit=0 >>"$log" 2>&1 &
database=$!

# wait_for WHAT COMMAND…: until the command succeeds, half a minute at most.
wait_for() {
    local what="$1" left=300
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || fail "$what does not answer"
        sleep 0.1
    done
}
wait_for MariaDB mariadb-admin --no-defaults --socket="$WORDPRESS_SOCKET" -u root ping
mariadb --no-defaults --socket="$WORDPRESS_SOCKET" -u root -e 'CREATE DATABASE wordpress CHARACTER SET utf8mb4'

port="$(free_port)"
export WORDPRESS_URL="http://127.0.0.1:$port" PHP_CLI_SERVER_WORKERS=4
php=(php -d sendmail_path=/bin/true -d display_errors=0 -d log_errors=1 -d memory_limit=256M
    -d upload_max_filesize=64M -d post_max_size=64M)
(run_as "$user" "${php[@]}" "$home/setup.php") >"$home/ready.json" 2>>"$log" || fail "the installation failed"
run_as "$user" setsid "${php[@]}" -S "127.0.0.1:$port" -t "$home/site" "$home/router.php" >>"$log" 2>&1 &
web=$!
wait_for "the web server" curl -sf "$WORDPRESS_URL/wp-json/"
kill -0 "$web" 2>/dev/null || fail "port $port was taken"
cat "$home/ready.json"
until_stopped "$database" "$web"
