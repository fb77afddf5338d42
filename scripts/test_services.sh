#!/bin/sh
# Makes sure of the programs that the tests start: Redis, PostgreSQL, Chromium, and Google's client for Node.
# Installs what is missing with apt-get when that needs no password, and otherwise says how to get it.
# Ends with 0 even if something is still missing: outside CI the tests that need it are skipped.
set -eu

has() {
    for program in "$@"; do
        if command -v "$program" >/dev/null 2>&1; then
            return 0
        fi
    done
    return 1
}

has_initdb() {
    has initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1
}

has_browser() {
    [ -n "${CHROMIUM:-}" ] || has chromium chromium-browser google-chrome google-chrome-stable
}

missing_packages() {
    has redis-server valkey-server || echo redis-server
    has_initdb || echo postgresql
    has_browser || echo chromium fonts-dejavu-core
    has node || echo nodejs
    has npm || echo npm
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

# What package-lock.json names, with its hashes; nothing of it runs here.
install_node_client() {
    client=tests/clients/node
    if has npm && [ ! "$client/node_modules/.package-lock.json" -nt "$client/package-lock.json" ]; then
        echo "Installing $client/package-lock.json (once, until it changes)"
        npm ci --prefix "$client" --ignore-scripts --no-audit --no-fund --loglevel=error ||
            echo "npm could not install it: the tests that need it are skipped (in CI they fail)." >&2
    fi
}

packages=$(missing_packages | tr '\n' ' ')
if [ -z "$packages" ]; then
    install_node_client
    exit 0
fi

if has apt-get && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
    echo "Installing for the tests: $packages"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    # shellcheck disable=SC2086 # a list of packages
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
fi

install_node_client
packages=$(missing_packages | tr '\n' ' ')
if [ -n "$packages" ]; then
    cat >&2 <<END
Not installed, so the tests that need it are skipped (in CI they fail): $packages
  Debian:  apt-get install $packages
  Ubuntu:  the same, but its chromium is a snap; where snaps don't run, install Google Chrome
  macOS:   brew install redis postgresql@17 node, and Google Chrome
A browser elsewhere: CHROMIUM=/path/to/chrome make test
END
fi
