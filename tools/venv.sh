# The virtual environment of build.sh, which has `say` and `die`.

VENV=${LIBMODE_VENV:-$PWD/.venv}

# venv: makes the environment, or completes one that was interrupted. It sees the packages of the Python that makes it if
# torch is among them. An environment that LIBMODE_VENV names belongs to the caller: it is made if there is none, and
# otherwise nothing but pip changes it.
venv() {
    local package python=${PYTHON:-python3} see=
    if [ -n "${LIBMODE_VENV:-}" ] && [ -e "$VENV" ]; then
        "$VENV/bin/python" -c 'import pip._internal' 2>/dev/null ||
            die "LIBMODE_VENV=$VENV is no environment with pip: name another, or a path where there is nothing"
        return
    fi
    for package in "$VENV"/lib/python*/site-packages/*.dist-info; do
        # pip writes RECORD last: what it was writing when it was interrupted, it has to write again.
        [ ! -d "$package" ] || [ -e "$package/RECORD" ] || rm -rf "$package"
    done
    "$VENV/bin/python" -c 'import pip._internal' 2>/dev/null && compgen -G "$VENV/lib/python*/site-packages/pip-*" >/dev/null && return
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        die "needs Python 3.10 or newer as python3 (or in \$PYTHON)"
    "$python" -c 'import torch' 2>/dev/null && see=--system-site-packages
    say "making a virtual environment in $VENV"
    "$python" -m venv $see "$VENV" ||
        die "python3 -m venv failed: install the package python3-venv, or set \$PYTHON to a complete Python"
}
