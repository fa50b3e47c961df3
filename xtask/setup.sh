#!/bin/sh
# Looks for what Helenus is built and tested with, and installs what is missing from Debian's packages where it is root.
# Where it isn't, or a package is too old, one line says what to install.
#
# setup.sh build   what `make build` and `make demo` need
# setup.sh test    what `make test` needs besides
set -u

missing=""   # Debian's packages to install
elsewhere="" # the same on Fedora and RHEL
trouble=0    # something that no package here gives

lacks() { # PACKAGE [NAME-ON-FEDORA]
    missing="$missing $1"
    elsewhere="$elsewhere ${2:-$1}"
}

wants() { # COMMAND PACKAGE [NAME-ON-FEDORA]
    command -v "$1" >/dev/null 2>&1 || lacks "$2" "${3:-$2}"
}

too_old() { # NAME FOUND WANTED HOW
    echo "setup: $1 $2 is here, and $3 or newer is needed: $4" >&2
    trouble=1
}

older() { # FOUND WANTED
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" != "$2" ]
}

wants cc gcc
wants javac openjdk-17-jdk-headless java-17-openjdk-devel
wants mvn maven
wants node nodejs
wants npm npm nodejs-npm
wants cargo rustup
# The programs in bpf/, and libbpf, which is built from its source.
wants clang clang
wants make make
# For the link-time files of an old glibc.
wants python3 python3
wants pkg-config pkg-config pkgconf-pkg-config
[ -e /usr/include/libelf.h ] || lacks libelf-dev elfutils-libelf-devel
if [ "${1:-build}" = test ]; then
    wants chromium chromium
    wants debootstrap debootstrap
    wants openssl openssl
    wants strace strace
    wants tmux tmux
    wants unshare util-linux
fi
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import ensurepip' >/dev/null 2>&1 || lacks python3-venv python3-libs
fi

if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: installing$missing" >&2
        export DEBIAN_FRONTEND=noninteractive
        # One after the other: a package that this release does not have shall not keep the others away.
        apt-get -qq update >&2
        for package in $missing; do
            apt-get -qq -y --no-install-recommends install "$package" >/dev/null ||
                { echo "setup: there is no package $package here; install it by hand" >&2; trouble=1; }
        done
    elif command -v dnf >/dev/null 2>&1; then
        echo "setup: these are missing; install them as root: dnf install$elsewhere" >&2
        trouble=1
    else
        echo "setup: these are missing; install them as root, by Debian's names: apt-get install$missing" >&2
        trouble=1
    fi
fi

if command -v cargo >/dev/null 2>&1; then
    found=$(cargo --version 2>/dev/null | cut -d ' ' -f 2)
    [ -n "$found" ] || { rustup default stable >&2 && found=$(cargo --version | cut -d ' ' -f 2); }
    if older "${found:-0}" 1.94.0; then too_old Rust "${found:-none}" 1.94 "rustup update stable"; fi
fi
if command -v node >/dev/null 2>&1; then
    found=$(node --version | tr -d v)
    if older "$found" 20.0.0; then too_old Node "$found" 20 "take it from nodejs.org or your package manager"; fi
fi
if command -v javac >/dev/null 2>&1; then
    found=$(javac -version 2>&1 | cut -d ' ' -f 2)
    if older "$found" 17; then too_old "the JDK" "$found" 17 "apt-get install openjdk-17-jdk-headless"; fi
fi
exit "$trouble"
