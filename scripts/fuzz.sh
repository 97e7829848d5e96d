#!/bin/sh
# Runs every fuzz target of both modules, the product's and the one in test/, for the
# given time each.
set -eu
time=${1:-60s}
status=0
for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do
	for target in $(grep -h -o '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -c6- | sort -u); do
		echo "== $dir $target ($time)"
		# In the package's folder, from which go finds the module. Go's default
		# spends a whole minute on minimising one input.
		(cd "$dir" && go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 5x) || status=1
	done
done
exit $status
