#!/bin/sh
# Installs a static prof from a release, for one user and without root.
set -eu

usage() {
	cat <<-END
	usage: install.sh [--prefix DIRECTORY] [FROM]

	Installs the static prof of a release into ~/.local, or DIRECTORY, after
	checking its SHA-256 sum. FROM is a URL or directory that contains
	SHA256SUMS and the archives of the release (default: where this script is).
	END
}

die() {
	printf 'install.sh: %s\n' "$*" >&2
	exit 1
}

# fetch NAME: copies a file of the release into the temporary directory.
fetch() {
	case $from in
	*://*)
		if command -v curl >/dev/null; then
			curl -fsSL --retry 3 -o "$temporary/$1" "$from/$1"
		elif command -v wget >/dev/null; then
			wget -q -O "$temporary/$1" "$from/$1"
		else
			die "downloading needs curl or wget; or download the archive and SHA256SUMS, and give their directory"
		fi
		;;
	*) cp "$from/$1" "$temporary/$1" ;;
	esac
}

# The line of SHA256SUMS about the archive for this machine.
archive_line() {
	grep -E "^[0-9a-f]{64} [ *]prof-[0-9][^/]*-$machine\.tar\.gz\$" "$temporary/SHA256SUMS"
}

prefix=${HOME:+$HOME/.local}
from=$(dirname "$0")
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help)
		usage
		exit 0
		;;
	--prefix)
		[ $# -gt 1 ] || die "--prefix needs a directory"
		prefix=$2
		shift
		;;
	-*) die "unknown option $1; --help lists the options" ;;
	*) from=${1%/} ;;
	esac
	shift
done

[ -n "$prefix" ] || die "HOME is not set; use --prefix DIRECTORY"
[ "$(uname -s)" = Linux ] || die "prof runs on Linux only"
machine=$(uname -m)
command -v sha256sum >/dev/null || die "sha256sum is missing (coreutils or busybox)"
mkdir -p "$prefix" 2>/dev/null || die "cannot create $prefix; use --prefix DIRECTORY"
prefix=$(cd "$prefix" && pwd)
temporary=$(mktemp -d "$prefix/.prof-install.XXXXXX" 2>/dev/null) ||
	die "cannot write to $prefix; use --prefix DIRECTORY"
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM

fetch SHA256SUMS || die "cannot get SHA256SUMS from $from; give the URL or the directory of a release"
line=$(archive_line) || die "$from has no archive for $machine; build prof from its source: ./bootstrap"
[ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || die "$from has several versions for $machine"
archive=${line#*[ *]prof-}
archive=prof-$archive
fetch "$archive" || die "cannot get $archive from $from; nothing was installed"
(cd "$temporary" && printf '%s\n' "$line" | sha256sum -c >/dev/null 2>&1) ||
	die "the SHA-256 sum of $archive is wrong; nothing was installed"
problem=$(tar -x -z -f "$temporary/$archive" -C "$temporary" 2>&1) ||
	die "cannot unpack $archive ($(printf '%s\n' "$problem" | head -n 1)); is $prefix full? Nothing was installed"

# The units of systemd are for /usr/local.
cd "$temporary/${archive%.tar.gz}"
"$PWD/bin/prof" --version >/dev/null || die "prof does not run in $prefix; if it is mounted noexec, use --prefix DIRECTORY; nothing was installed"
find bin lib/prof share -type f | while IFS= read -r file; do
	mkdir -p "$prefix/$(dirname "$file")" && mv -f "$file" "$prefix/$file" ||
		die "cannot write to $prefix/$(dirname "$file"); use --prefix DIRECTORY"
done
echo "installed $("$prefix/bin/prof" --version) in $prefix"
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "add it to PATH: export PATH=\"$prefix/bin:\$PATH\"" ;;
esac
