#!/usr/bin/env bash
# Runs both commands of the README, of a clone of this repository, in a system that has nothing to
# build with: Debian's smallest, with Python, git and certificates. Downloads all that a new user does.
# usage: tests/install/bare.sh [ARGUMENT...]    (from the repository root, as root, with debootstrap)
#
# The arguments are those of one build.sh, which runs in place of `demo` and then `test`.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
export SYSTEM=$work/system

debootstrap --variant=minbase --include=python3,python3-venv,git,ca-certificates stable "$SYSTEM" >"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
git clone --quiet --no-hardlinks . "$SYSTEM/libmode"
# The way out of this machine: names, and certificates of its own.
cp -L /etc/resolv.conf /etc/hosts "$SYSTEM/etc/"
cp -L /etc/ssl/certs/ca-certificates.crt "$SYSTEM/etc/ssl/certs/"

# inside ARGUMENT...: runs ./build.sh ARGUMENT... in there, with what pip and Go need of this environment.
inside() {
    local variable needed=(HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH=/usr/bin:/bin:/usr/sbin:/sbin)
    while IFS= read -r -d '' variable; do
        case ${variable%%=*} in
            PIP_* | GOPROXY | GOSUMDB | GONOSUMDB | SSL_* | *_CA_BUNDLE | *_proxy | *_PROXY | LIBMODE_TORCH) needed+=("$variable") ;;
        esac
    done < <(env -0)
    # In a mount namespace of its own, which takes its mounts along when it ends.
    unshare --mount bash -euc '
        mount -t proc proc "$SYSTEM/proc"
        mount --rbind /dev "$SYSTEM/dev"
        exec chroot "$SYSTEM" /usr/bin/env -i "$@"' bash "${needed[@]}" bash -c 'cd /libmode && exec ./build.sh "$@"' build.sh "$@"
}

printf -- '-- %s\n' "$(chroot "$SYSTEM" python3 --version), $(chroot "$SYSTEM" grep -m 1 PRETTY_NAME /etc/os-release)"
if [ $# -gt 0 ]; then
    inside "$@"
else
    inside demo
    inside test
fi
