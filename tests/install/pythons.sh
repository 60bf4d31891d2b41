#!/usr/bin/env bash
# Installs the wheels of dist with every Python that there is, and runs the golden cases:
# Python 3.10 to 3.14 of this machine, Python 3.14 of Debian's unstable release, and for
# arm64 Debian's Python under qemu. Prints which.
# usage: tests/install/pythons.sh    (from the repository root, as root, after ./build.sh wheel)
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

x86_64=(dist/libmode-*manylinux2014_x86_64*.whl)
aarch64=(dist/libmode-*manylinux2014_aarch64*.whl)

# find MINOR: a Python 3.MINOR that runs, of PATH or of pyenv.
find() {
    local python
    for python in "python3.$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"3.$1".*/bin/python; do
        if "$python" -c '' 2>/dev/null; then echo "$python"; return; fi
    done
    return 1
}

for minor in 10 11 12 13 14; do
    python=$(find "$minor") || { echo "Python 3.$minor: none on this machine"; continue; }
    "$python" -m venv "$work/$minor"
    "$work/$minor/bin/python" -m pip install --quiet --disable-pip-version-check "${x86_64[0]}"
    env -i PATH=/nonexistent "$work/$minor/bin/python" tests/install/smoke.py
done

# debian SUITE ARCH PACKAGE: unpacks this Python and what it needs, running none of it.
debian() {
    debootstrap --foreign --variant=minbase --arch="$2" --include="$3" "$1" "$work/$2" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    local package
    for package in "$work/$2"/var/cache/apt/archives/*.deb; do dpkg -x "$package" "$work/$2"; done
}

"${PYTHON:-python3}" -m venv "$work/pip"

# site DIR WHEEL VERSION PLATFORM: installs the wheel and NumPy for that Python into DIR.
site() {
    "$work/pip/bin/python" -m pip install --quiet --disable-pip-version-check --target "$1" --only-binary :all: \
        --python-version "$3" --platform "manylinux_2_28_$4" --platform "manylinux2014_$4" "$2"
}

debian sid amd64 python3.14
mkdir -p "$work/amd64/tests"
cp -r tests/golden tests/helpers tests/install "$work/amd64/tests/"
site "$work/amd64/site-packages" "${x86_64[0]}" 3.14 x86_64
chroot "$work/amd64" /usr/bin/env -i PYTHONPATH=/site-packages /usr/bin/python3.14 /tests/install/smoke.py

debian bookworm arm64 python3
site "$work/arm64/site-packages" "${aarch64[0]}" 3.11 aarch64
qemu-aarch64-static -L "$work/arm64" -E PYTHONPATH="$work/arm64/site-packages" "$work/arm64/usr/bin/python3.11" tests/install/smoke.py
