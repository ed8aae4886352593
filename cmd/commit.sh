#!/bin/sh
# Prints the commit of this source tree: that of an archive, which git archive has put into the next line, or that of the
# checkout. Prints nothing if both are unknown.
commit='$Format:%H$'
source=$(cd "$(dirname "$0")/.." && pwd)
case $commit in
\$*) commit=$(GIT_CEILING_DIRECTORIES=$(dirname "$source") git -C "$source" rev-parse HEAD 2>/dev/null) ;;
esac
printf '%.12s\n' "$commit"
