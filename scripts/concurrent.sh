#!/bin/sh
# Lists the packages whose tests the race detector watches in full: those of the product
# whose own code starts goroutines or guards what several of them share, and those whose
# tests play such code with others. What computes is apart (Makefile): under the detector
# its long tests take minutes and show nothing that the short ones, and those of several
# workers, do not. make test-long watches all.
set -eu
{
	git ls-files '*.go' | grep -vE '_test\.go$|^test/|^scripts/' |
		xargs grep -lE 'go func|^[[:space:]]+go [a-zA-Z]+|sync\.|atomic\.|errgroup' | xargs -n1 dirname
	printf '%s\n' internal/analysis internal/parcel internal/post internal/replay internal/signed internal/visit internal/cli/concord
} | grep -vE '^(linalg|align|learn|manifold|lab|privacy|table|internal/cli/lab|internal/demo)(/|$)' | sort -u | sed 's|^|./|'
