#!/bin/sh
# Installs what the tests need: those of `make test`, with the word onnxruntime
# also those of `make test-onnx`, with the word peers those of the comparisons. Does nothing, and needs no rights, when all of it
# is there.
set -eu
python=${PYTHON:-/usr/bin/python3}

missing=""
"$python" -c 'import numpy' >/dev/null 2>&1 || missing="$missing python3-numpy"
command -v ip >/dev/null 2>&1 || missing="$missing iproute2"
ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null 2>&1 || missing="$missing postgresql"
command -v gcc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
if [ "${1:-}" = onnxruntime ]; then
	command -v npm >/dev/null 2>&1 || missing="$missing nodejs npm"
fi
if [ "${1:-}" = peers ]; then
	for module in scipy sklearn; do
		"$python" -c "import $module" >/dev/null 2>&1 || missing="$missing python3-$module"
	done
fi

if [ -n "$missing" ]; then
	run=""
	if [ "$(id -u)" != 0 ]; then
		command -v sudo >/dev/null 2>&1 || {
			echo "deps: these Debian packages are missing and must be installed by root:$missing" >&2
			exit 1
		}
		run=sudo
	fi
	echo "deps: installing$missing"
	$run env DEBIAN_FRONTEND=noninteractive apt-get update -qq
	# shellcheck disable=SC2086 # the list is meant to be split
	$run env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

go mod download
(cd test && go mod download)
