#!/usr/bin/env bash
# Installs what the tests on real stacks need on a Debian 12 that has Go: PHP-FPM,
# Laravel, nginx, wrk, Redis, NSS' certutil and Chromium from Debian, FrankenPHP over
# Debian's PHP, and Pebble, the ACME authority for tests. Takes about a second when
# all is there. Only installing packages needs root.
#   install.sh         all that `make test` needs
#   install.sh bench   … and what `make bench` needs besides: Caddy, and h2load from Debian
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
var=$here/var
packages=(
    php8.2-fpm php8.2-cli php8.2-opcache php8.2-sqlite3 php8.2-mbstring php8.2-xml php8.2-curl
    php-laravel-framework nginx wrk
    libphp8.2-embed php8.2-dev gcc libc6-dev
    redis-server libnss3-tools openjdk-17-jre-headless chromium openssl ca-certificates
)

case ${1:-} in
'') ;;
bench) packages+=(nghttp2-client) ;;
*)
    echo "usage: $0 [bench]" >&2
    exit 2
    ;;
esac

# missing: those of the packages that are not installed.
missing() {
    local package
    for package in "${packages[@]}"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    done
}

# debian PACKAGE…: without starting the services that the packages bring.
debian() {
    local policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        trap "rm -f $policy" EXIT
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get -o DPkg::Lock::Timeout=600 update -q
    apt-get -o DPkg::Lock::Timeout=600 install -y -q --no-install-recommends "$@"
}

# built FILE SOURCE…: whether FILE is newer than all that it is made from. When it is
# not, the caller makes it, alone: a second test run waits here, and finds it made.
built() {
    newer "$@" && return
    mkdir -p "$var/bin"
    exec 9>"$var/lock"
    flock 9
    newer "$@"
}

newer() {
    local file=$1 source
    shift
    for source; do
        [ "$file" -nt "$here/$source" ] || return
    done
}

# FrankenPHP from its Go library. libphp8.2.so names the libraries that it needs;
# `php-config --libs` would ask for development packages that are not installed.
frankenphp() {
    local program=$var/bin/frankenphp
    built "$program" frankenphp/{main.go,go.mod,go.sum} && return
    echo "building frankenphp" >&2
    (cd "$here/frankenphp" && CGO_ENABLED=1 CGO_CFLAGS="$(php-config8.2 --includes) -O2" \
        go build -buildvcs=false -tags nowatcher,nomercure -o "$program" .)
}

# Pebble and its DNS server that answers what it is told to.
pebble() {
    local version=v2.10.3 module=github.com/letsencrypt/pebble/v2/cmd
    [ -x "$var/bin/pebble-$version" ] && return
    exec 9>"$var/lock"
    flock 9
    GOBIN=$var/bin go install "$module/pebble@$version" "$module/pebble-challtestsrv@$version"
    cp "$var/bin/pebble" "$var/bin/pebble-$version"
}

# The database that every run of the test application begins with a copy of.
seed() {
    local database=$var/seed/storage/database.sqlite
    built "$database" laravel/routes/console.php && return
    mkdir -p "$var"/seed/storage/{app,logs,bootstrap,framework/{cache,sessions,views}}
    APP_VAR=$var/seed php8.2 "$here/laravel/artisan" app:seed >&2
}

caddy() {
    [ -x "$var/bin/caddy" ] || GOBIN=$var/bin go install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
}

if ! command -v go >/dev/null; then
    echo "install.sh: no go in PATH; where sudo leaves it out: sudo env \"PATH=\$PATH\" $0${1:+ $1}" >&2
    exit 1
fi
mapfile -t lacking < <(missing)
if [ ${#lacking[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "install.sh: not installed: ${lacking[*]}" >&2
        echo "install.sh: run it as root once: sudo env \"PATH=\$PATH\" $0${1:+ $1}; the tests themselves need no root" >&2
        exit 1
    fi
    debian "${lacking[@]}"
fi
frankenphp
pebble
seed
if [ "${1:-}" = bench ]; then
    caddy
fi
