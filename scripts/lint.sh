#!/bin/sh
# gofmt, go vet, staticcheck, and govulncheck where its database can be reached, in
# both modules: the product's and the one in test/.
set -eu
cache=$(pwd)/.cache
mkdir -p "$cache"

unformatted=$(git ls-files '*.go' | grep -v '\.pb\.go$' | xargs gofmt -l)
if [ -n "$unformatted" ]; then
	echo "lint: not formatted by gofmt:" >&2
	echo "$unformatted" >&2
	exit 1
fi

GOBIN=$cache go install honnef.co/go/tools/cmd/staticcheck@v0.8.2
go vet ./...
"$cache/staticcheck" ./...
(cd test && go vet -tags long ./... && "$cache/staticcheck" -tags long ./...)

# The vulnerability database is on the network. Where it cannot be reached the
# check did not run, and says so.
if ! GOBIN=$cache go install golang.org/x/vuln/cmd/govulncheck@v1.1.4 >"$cache/govulncheck.log" 2>&1; then
	echo "lint: govulncheck did not run: it cannot be installed here"
	exit 0
fi
for module in . test; do
	if (cd "$module" && "$cache/govulncheck" ./...) >"$cache/govulncheck.log" 2>&1; then
		echo "lint: govulncheck found nothing in $module"
	elif grep -qE 'dial tcp|no such host|Forbidden|connection refused|i/o timeout|proxyconnect|unexpected status' "$cache/govulncheck.log"; then
		echo "lint: govulncheck did not run in $module: its database cannot be reached"
	else
		cat "$cache/govulncheck.log" >&2
		exit 1
	fi
done
