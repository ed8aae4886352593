#!/bin/sh
# terminal_types.sh INFOCMP NAME …: prints a C array of terminal types, each as TERMINFO may contain it (terminfo(5)).
set -e
infocmp=$1
shift
for name; do
	description=$("$infocmp" -q -Q2 "$name")
	printf '{"%s", "%s"},\n' "$name" "$(printf %s "$description" | tr -d '\n')"
done
