#!/bin/sh
# Records benchmarks in two checkouts and exits with status 1 if one has become slower in the second,
# or 2 if the recordings differ by too much to tell: then set ROUNDS higher.
#
#	gate.sh BASE HEAD 'NAME COMMAND…' …
#
#	gate.sh ../base . 'parse ./target/release/parse big.json' 'lex ./target/release/lex big.json'
#
# Each command runs in both checkouts, in turn, so that what else the machine does affects both. It
# must do the same work whenever it runs, for 0.2 seconds of CPU time or more. The profiles are in
# gate/base and gate/head, what has changed in gate/diff.json. Environment:
#
#	ROUNDS	recordings per side, at least two (5)
#	LIMIT	as for prof diff --fail-if (slower>5%)
#	OUT	directory of the profiles (gate); it must not hold any yet
#	PROF	the program (prof)
set -eu

base=$1
head=$2
shift 2
prof=${PROF:-prof}
mkdir -p "${OUT:=gate}/base" "$OUT/head"
out=$(cd "$OUT" && pwd)

# record CHECKOUT SIDE ROUND BENCHMARK
record() {
	name=${4%% *}
	mkdir -p "$(dirname "$out/$2/$name")"
	(cd "$1" && "$prof" record -q -o "$out/$2/$name.$3.pb.gz" -- sh -c "exec ${4#* }" >/dev/null)
}

round=0
while [ $((round += 1)) -le "${ROUNDS:-5}" ]; do
	for benchmark; do
		record "$base" base $round "$benchmark"
		record "$head" head $round "$benchmark"
	done
done
"$prof" diff --json "$out/base" "$out/head" >"$out/diff.json"
exec "$prof" diff --no-pager --fail-if "${LIMIT:-slower>5%}" "$out/base" "$out/head"
