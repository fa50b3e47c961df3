#!/bin/sh
# Makes a folder with the C library's link-time files of an old release. A binary that is linked with `-B FOLDER` starts on every
# distribution that has that release or a newer one. The files come from the package ziglang of PyPI (MIT), which has the symbols
# of all releases of glibc; it is installed in a temporary folder and removed again.
#
# old-glibc.sh FOLDER: its last part names the release, such as glibc-2.28
set -eu
folder=$1
release=${folder##*-}
case $(uname -m) in
    x86_64 | aarch64) target=$(uname -m)-linux-gnu.$release ;;
    *) echo "old-glibc: no files for $(uname -m); the binary needs the glibc of this machine" >&2; exit 0 ;;
esac
[ "$(uname -s)" = Linux ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "making the link-time files of glibc $release, once" >&2
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "ziglang==0.17.*" || {
    echo "old-glibc: ziglang can't be installed from PyPI; the binary needs the glibc of this machine" >&2
    exit 0
}
export ZIG_GLOBAL_CACHE_DIR="$work/cache" ZIG_LOCAL_CACHE_DIR="$work/cache"
echo 'int main(void) { return 0; }' >"$work/empty.c"
"$work/venv/bin/python" -m ziglang cc -target "$target" -fPIE -pie "$work/empty.c" -o "$work/empty" \
    -lm -lpthread -ldl -lrt -lutil

mkdir "$work/made"
find "$work/cache" \( -name 'lib*.so.*' -o -name Scrt1.o -o -name libc_nonshared.a \) -exec cp {} "$work/made" \;
cd "$work/made"
for name in m pthread dl rt util; do
    ln -s lib$name.so.* lib$name.so
done
# As glibc's own libc.so: the library, its static part, and the loader.
echo 'GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so.2 ) )' >libc.so
for needed in Scrt1.o libc_nonshared.a libc.so.6 libld.so.2; do
    [ -e "$needed" ] || { echo "old-glibc: ziglang made no $needed" >&2; exit 2; }
done
mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
mv "$work/made" "$folder"
