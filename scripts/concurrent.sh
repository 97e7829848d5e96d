#!/bin/sh
# Lists the packages of the product whose own code, tests excepted, starts goroutines or
# guards what several of them share, and those whose tests play such code with others: where
# the race detector has something to find. linalg, align and learn are apart (Makefile):
# under the detector their long tests take minutes and show nothing that the short ones
# do not.
set -eu
{
	git ls-files '*.go' | grep -vE '_test\.go$|^test/|^scripts/' |
		xargs grep -lE 'go func|^[[:space:]]+go [a-zA-Z]+|sync\.|atomic\.|errgroup' | xargs -n1 dirname
	printf '%s\n' internal/analysis internal/parcel internal/post internal/replay internal/signed internal/visit internal/cli/concord
} | grep -vE '^(linalg|align|learn|manifold)(/|$)' | sort -u | sed 's|^|./|'
