#!/bin/sh
# Makes the virtual environment VENV with a Python that XProf Hub runs on (3.11 to 3.13).
# usage: make_venv.sh VENV [PYTHON]
set -eu

venv=$1
wanted=${2:-}

supported() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

say() {
    printf '%s\n' "$@" >&2
}

python=
for candidate in ${wanted:-python3 python3.13 python3.12 python3.11}; do
    if supported "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    if [ -n "$wanted" ]; then
        say "PYTHON=$wanted is no Python 3.11, 3.12 or 3.13."
    else
        say "XProf Hub needs Python 3.11, 3.12 or 3.13, and none was found as python3, python3.13, python3.12 or python3.11."
        say "Install one (Debian 12: apt-get install python3 python3-venv), or name it: make PYTHON=/path/to/python3.12 ..."
    fi
    exit 1
fi

if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "$python can't make virtual environments: its venv module is not installed."
    say "Install it with: apt-get install python$version-venv"
    exit 1
fi

exec "$python" -m venv --clear "$venv"
