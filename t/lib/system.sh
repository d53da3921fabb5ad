# shellcheck shell=bash
# system.sh - for t/arch/run, t/compilers/run, t/package/run, t/sanitize/run and t/versions/run:
# small Debian systems, and steps that are silent unless they fail.

here=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck disable=SC2034 # of the others
jobs=${JOBS:-$(nproc)}

say() { printf 'check-%s: %s\n' "$(basename "$(dirname "$0")")" "$*" >&2; }
die() { say "$*"; exit 1; }

# step LOG WHAT COMMAND...
step() {
    local log=$1 what=$2

    shift 2
    say "$what"
    ("$@") >>"$log" 2>&1 && return
    tail -n 40 "$log" >&2
    die "$what: failed, see $log"
}

# needs PROGRAM...: root, and these.
needs() {
    local program

    [ "$(id -u)" = 0 ] || die 'needs root'
    for program; do command -v "$program" >/dev/null || die "needs $program"; done
}

# The mirror that this machine uses.
mirror() {
    sed -n 's|^URIs: *||p; s|^deb \(\[.*\] \)\?\(http[^ ]*\) .*|\2|p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1
}

# shellcheck disable=SC1091
release() { (. /etc/os-release && echo "$VERSION_CODENAME"); }

# make_system DIRECTORY RELEASE PACKAGES [OPTION...]: one that has the same packages is used
# again. The lists of a mirror may be old.
make_system() {
    local system=$1 release=$2 packages

    packages=$(tr -s ' \n' , <<<"$3")
    shift 3
    [ "$packages" != "$(cat "$system/.made" 2>/dev/null)" ] || return 0
    rm -rf "$system" "$system.log"
    step "$system.log" "a system of Debian $release" mmdebstrap --mode=root \
        --aptopt='Acquire::Check-Valid-Until "false"' --include="${packages%,}" "$@" \
        "$release" "$system" "$(mirror)"
    echo "$packages" >"$system/.made"
}

# inside SYSTEM COMMAND...: with a process table of its own, which ends with it.
inside() {
    local system=$1

    shift
    unshare --mount --pid --fork --kill-child --mount-proc="$system/proc" \
        chroot "$system" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"
}

# copy_source DIRECTORY: without what builds left in it, with a new configure.
copy_source() {
    rm -rf "$1"
    mkdir -p "$1"
    tar -C "$here" -cf - --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.lo' \
        --exclude='*.la' --exclude=.libs --exclude=./config.status . | tar -C "$1" -xf -
    (cd "$1" && autoreconf -fi)
}
