#!/bin/sh
# Builds and vets both modules and runs the quick tests of the packages that have changed
# since the last commit, or in it where nothing has changed since. Packages that import
# them are not tested: make test does that.
set -eu
changed=$( (git diff --name-only HEAD; git ls-files --others --exclude-standard) )
[ -n "$changed" ] || changed=$(git diff --name-only HEAD~1 HEAD)

# packages MODULE: the packages of changed files in a module, as ./paths in it. A file in
# testdata belongs to the package above it.
packages() {
	echo "$changed" | while read -r file; do
		dir=$(dirname "$file")
		while [ "$dir" != . ] && ! ls "$dir"/*.go >/dev/null 2>&1; do dir=$(dirname "$dir"); done
		case "$1 $dir" in
		"test test"/*) echo "./${dir#test/}" ;;
		"test "*) ;;
		". test"/*) ;;
		*) echo "./$dir" ;;
		esac
	done | sort -u
}

for module in . test; do
	(
		list=$(packages $module)
		cd $module
		go build ./...
		go vet ./...
		# shellcheck disable=SC2086 # the list is meant to be split
		[ -z "$list" ] || go test -short $list
	)
done
