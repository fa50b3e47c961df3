#!/bin/sh
# Installs a .deb in a clean Debian and checks what a user does first: the command, its man page, completions, licenses,
# `helenus doctor`, and a recording. Where it can't, one line says why.
#
# install-test.sh DEB
set -eu
deb=$(realpath "$1")
release=bookworm
cache=$HOME/.cache/helenus/debian/$release-$(dpkg --print-architecture).tar

skip() { echo "skipped: the .deb is not installed in a clean Debian: $*" >&2; exit 0; }
[ "$(id -u)" = 0 ] || skip "needs root, for chroot"
unshare --mount --net true 2>/dev/null || skip "needs mount and network namespaces"

work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root

if [ ! -e "$cache" ]; then
    command -v debootstrap >/dev/null || skip "there is no debootstrap (apt-get install debootstrap)"
    echo "making a clean Debian $release, once" >&2
    debootstrap --variant=minbase --include=man-db,bash-completion,libelf1 "$release" "$root" >"$work/log" 2>&1 ||
        { tail -n 3 "$work/log" >&2; skip "debootstrap failed; it needs the network once"; }
    mkdir -p "$(dirname "$cache")"
    # Renamed when it is whole.
    tar -C "$root" --exclude=./var/cache/apt/archives/*.deb -cf "$cache.$$" .
    mv "$cache.$$" "$cache"
else
    mkdir "$root"
    tar -C "$root" -xf "$cache"
fi

cp "$deb" "$root/helenus.deb"
cat >"$root/try.sh" <<'TRY'
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
unshare --mount --net chroot "$root" sh /try.sh
echo "the .deb is installed in a clean Debian $release, and works" >&2
