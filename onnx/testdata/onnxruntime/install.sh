#!/bin/sh
# Installs ONNX Runtime for Node into the folder that is named, by default
# .cache/onnxruntime of the repository. Does nothing when it is there. The CPU
# library comes with the package: no script of it is run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:-$here/../../../.cache/onnxruntime}
if [ -d "$to/node_modules/onnxruntime-node" ] && cmp -s "$here/package.json" "$to/package.json"; then
	exit 0
fi
command -v npm >/dev/null 2>&1 || {
	echo "onnxruntime: npm is missing; install the Debian packages nodejs and npm" >&2
	exit 1
}
mkdir -p "$to"
rm -f "$to/package.json"
cp "$here/package.json" "$to/new.json"
(
	cd "$to"
	mv new.json package.json
	npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error >npm.log 2>&1 || {
		rm -f package.json
		cat npm.log >&2
		exit 1
	}
)
