#!/bin/sh
# Installs a .deb in clean Debians, from an old release to a new one, and checks what a user does first: the command, its man page,
# completions, licenses, `helenus doctor`, and a recording. Where it can't, one line says why.
#
# install-test.sh DEB [RELEASE...]
set -eu
deb=$(realpath "$1")
shift
# glibc 2.31, 2.36 and 2.41.
[ $# -gt 0 ] || set -- bullseye bookworm trixie

skip() { echo "skipped: the .deb is not installed in a clean Debian: $*" >&2; exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root, for chroot"
unshare --mount --net true 2>/dev/null || skip "needs mount and network namespaces"

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT

cat >"$work/try.sh" <<'TRY'
set -eu
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
export HOME=/root LC_ALL=C.UTF-8
dpkg --install /helenus.deb >/dev/null
helenus --version
# Written to files, because sh does not notice a failure on the left side of a pipe.
helenus licenses >/tmp/licenses
grep -q '^arrow .*: Apache-2.0$' /tmp/licenses
man helenus-record >/tmp/man
grep -q 'helenus record' /tmp/man
bash -c '. /usr/share/bash-completion/bash_completion; . /usr/share/bash-completion/completions/helenus
    COMP_WORDS=(helenus rec); COMP_CWORD=1; _helenus helenus rec helenus; printf "%s\n" "${COMPREPLY[@]}"' >/tmp/complete
grep -q '^record$' /tmp/complete
helenus doctor >/tmp/doctor
cat /tmp/doctor
helenus record --pid $$ --no-agent --syscalls summary --sched on --for 2s -o /tmp/shell.helenus
helenus recording info /tmp/shell.helenus --json >/tmp/info
grep -q '"threads"' /tmp/info
# Without libelf everything works except eBPF.
rm /usr/lib/*/libelf.so.1
helenus doctor >/tmp/doctor
grep -q 'there is no libelf here' /tmp/doctor
helenus record --pid $$ --no-agent --for 1s -o /tmp/without.helenus
TRY

# RELEASE: a clean root file system of it in $work/RELEASE, made once and kept as a tarball.
clean() {
    cache=$HOME/.cache/helenus/debian/$1-$(dpkg --print-architecture).tar
    if [ ! -e "$cache" ]; then
        command -v debootstrap >/dev/null || skip "there is no debootstrap (apt-get install debootstrap)"
        case $1 in bullseye | bookworm) libelf=libelf1 ;; *) libelf=libelf1t64 ;; esac
        echo "making a clean Debian $1, once" >&2
        debootstrap --variant=minbase --include="man-db,bash-completion,$libelf" "$1" "$work/$1" >"$work/log" 2>&1 ||
            { tail -n 3 "$work/log" >&2; skip "debootstrap of $1 failed; it needs the network once"; }
        mkdir -p "$(dirname "$cache")"
        # Renamed when it is whole.
        tar -C "$work/$1" --exclude=./var/cache/apt/archives/*.deb -cf "$cache.$$" .
        mv "$cache.$$" "$cache"
    else
        mkdir "$work/$1"
        tar -C "$work/$1" -xf "$cache"
    fi
}

for release in "$@"; do
    clean "$release"
    cp "$deb" "$work/$release/helenus.deb"
    cp "$work/try.sh" "$work/$release/"
    unshare --mount --net chroot "$work/$release" sh /try.sh
    echo "the .deb is installed in a clean Debian $release, and works" >&2
    rm -rf --one-file-system "${work:?}/$release"
done
