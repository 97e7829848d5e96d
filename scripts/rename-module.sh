#!/usr/bin/env bash
# Gives the module another path, in one step:
#
#     scripts/rename-module.sh example.org/concord
#
# It changes the module line of go.mod and of every nested go.mod, what these require and
# replace of each other, and every import declaration. Nothing else depends on the path: labels
# that are hashed or signed ("concord/anchor/seed/v1", "concord/epoch/v1") begin with
# the protocol's name, not with the module's path, and stay. It runs in a clean work tree
# of git, and ends with a build.
set -euo pipefail
cd "$(dirname "$0")/.."

new=${1:-}
if [[ $# -ne 1 || ! $new =~ ^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$ ]]; then
	echo "usage: scripts/rename-module.sh NEW/PATH" >&2
	exit 2
fi
if [[ -n $(git status --porcelain) ]]; then
	echo "error: there are changes that are not committed; commit or stash them first" >&2
	exit 1
fi
old=$(go list -m)
if [[ $old == "$new" ]]; then
	echo "the module's path is $new already"
	exit 0
fi
quoted=${old//./\\.}

# A path in go.mod is a word: at the end of it stands a space, a slash or the line's end.
git ls-files -z -- go.mod '*/go.mod' | xargs -0 sed -i -E \
	"/^[[:space:]]*\/\//! s#^((module|require|replace|[[:space:]]+)[[:space:]]*)${quoted}(/|[[:space:]]|\$)#\1${new}\3#"

# Imports alone, in blocks and on lines of their own; other strings stay.
git ls-files -z -- '*.go' | xargs -0 sed -i -E \
	-e "/^import \(/,/^\)/ s#^([[:space:]]+([A-Za-z0-9_.]+ )?)\"${quoted}(/[^\"]*)?\"#\1\"${new}\3\"#" \
	-e "s#^(import ([A-Za-z0-9_.]+ )?)\"${quoted}(/[^\"]*)?\"#\1\"${new}\3\"#"

# gofmt keeps the imports of a block sorted.
git diff --name-only -z -- '*.go' | xargs -0 gofmt -w

# Build everything, tests too.
git ls-files -- go.mod '*/go.mod' | while read -r mod; do
	(cd "$(dirname "$mod")" && go build ./... && go vet ./...)
done
echo "$old is now $new; commit what git status shows"
