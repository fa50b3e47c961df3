#!/bin/sh
# Makes what is given to users, from a built binary: a tarball, a .deb, and the debug symbols in a file of their own.
#
# dist.sh HELENUS FOLDER [BYTES]: the stripped binary must not be larger than that
set -eu
cd "$(dirname "$0")/.."
helenus=$1
folder=$(mkdir -p "$2" && cd "$2" && pwd)

version=$("$helenus" --version | cut -d ' ' -f 2)
machine=$(uname -m)
case $machine in
    x86_64) architecture=amd64 ;;
    aarch64) architecture=arm64 ;;
    *) echo "dist: Debian's name of $machine is not known here" >&2; exit 2 ;;
esac
# The same commit gives the same files.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
name=helenus-$version-linux-$machine
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

mkdir -p "$root/usr/bin" "$root/usr/share/man/man1" "$root/usr/share/doc/helenus" "$root/DEBIAN"
objcopy --only-keep-debug --compress-debug-sections "$helenus" "$folder/$name.debug"
chmod a-x "$folder/$name.debug"
strip --strip-all -o "$root/usr/bin/helenus" "$helenus"
size=$(stat -c %s "$root/usr/bin/helenus")
[ "$size" -le "${3:-$size}" ] || { echo "dist: the binary has $size bytes, more than $3" >&2; exit 1; }
(cd "$folder" && objcopy --add-gnu-debuglink="$name.debug" "$root/usr/bin/helenus")

"$helenus" completions man --to "$root/usr/share/man/man1"
gzip -9n "$root/usr/share/man/man1/"*.1
complete() { # SHELL FILE
    mkdir -p "$root/usr/share/$(dirname "$2")"
    "$helenus" completions "$1" >"$root/usr/share/$2"
}
complete bash bash-completion/completions/helenus
complete zsh zsh/vendor-completions/_helenus
complete fish fish/vendor_completions.d/helenus.fish

# A unit for each node: systemctl enable --now helenus-record@127.0.0.1
mkdir -p "$root/usr/lib/systemd/system"
cp xtask/helenus-record@.service "$root/usr/lib/systemd/system/"

doc=$root/usr/share/doc/helenus
cp README.md "$doc/"
cat NOTICE LICENSE >"$doc/copyright"
{ cargo xtask changelog; sed 1,/versions/d CHANGELOG.md; } | gzip -9n >"$doc/changelog.gz"

find "$root" -type d -exec chmod 755 {} +
find "$root/usr/share" "$root/usr/lib" -type f -exec chmod 644 {} +
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
cp -p LICENSE NOTICE "$root/"
tar -C "$root" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --exclude=./DEBIAN --transform "s,^\\./usr,.,;s,^\\.,$name," -czf "$folder/$name.tar.gz" .
rm "$root/LICENSE" "$root/NOTICE"
command -v dpkg-deb >/dev/null || { echo "dist: there is no dpkg-deb here, so no .deb" >&2; exit 0; }

# The libraries that the binary asks the loader for, each in the package of Debian that has it.
needed() { objdump -p "$helenus" | awk '$1 == "NEEDED" { print $2 }'; }
glibc=$(objdump -T "$helenus" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1 | cut -d _ -f 2)
depends="libc6 (>= $glibc)"
case $(printf '%s\n' "$glibc" 2.28 | sort -V | tail -n 1) in
    2.28) ;;
    *) echo "dist: the binary needs glibc $glibc, so that it does not start on RHEL 8 and 9 and older Debian; see xtask/old-glibc.sh" >&2 ;;
esac
for library in $(needed); do
    case $library in
        libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libutil.so.* | ld-linux*) ;;
        libgcc_s.so.1) depends="$depends, libgcc-s1 | libgcc1" ;;
        *) echo "dist: no package of Debian is known here for $library" >&2; exit 2 ;;
    esac
done
cat >"$root/DEBIAN/control" <<CONTROL
Package: helenus
Version: $version
Architecture: $architecture
Maintainer: Helenus authors <helenus@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f 1)
Depends: $depends
Recommends: libelf1t64 | libelf1
Suggests: openjdk-17-jdk-headless, maven
Section: database
Priority: optional
Description: performance laboratory for Apache Cassandra
 Records what a running node does, from the kernel to the JVM, on one clock,
 explains slow requests, drives load, and proves what a change was worth.
CONTROL
chmod 644 "$root/DEBIAN/control"
dpkg-deb --root-owner-group -Zxz -z3 --build "$root" "$folder/helenus_${version}_$architecture.deb" >/dev/null

ls -l "$folder" >&2
