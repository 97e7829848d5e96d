#!/bin/bash
# Times `concord check` on a CSV of ROWS x 50 numbers, end to end with the built program,
# beside encoding/csv alone on the same file:
#
#   make build && bench/check.sh [ROWS] [FOLDER]
#
# FOLDER (default: a temporary one, deleted at the end) takes the file, 330 MB for a
# million rows, and a study of one site. Run it alone on the machine.
set -euo pipefail
bin=$(cd "$(dirname "$0")/.." && pwd)/bin
rows=${1:-1000000}
dir=${2:-$(mktemp -d)}
[ $# -ge 2 ] || trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"
cd "$dir"
if [ ! -s rows.csv ]; then
	awk -v n="$rows" 'BEGIN { srand(1); for (j = 1; j <= 50; j++) printf "f%02d,", j; print "outcome"
		for (i = 0; i < n; i++) { for (j = 1; j <= 50; j++) printf "%.4g,", 200 * rand(); print (rand() < .5 ? "no" : "yes") } }' > rows.csv
fi
rm -rf analyst site
cat > csvonly.go <<'GO'
package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	r := csv.NewReader(f)
	r.ReuseRecord = true
	start := time.Now()
	for err == nil {
		_, err = r.Read()
	}
	if err != io.EOF {
		panic(err)
	}
	info, _ := f.Stat()
	s := time.Since(start).Seconds()
	fmt.Printf("encoding/csv alone: %.2f s, %.0f MB/s\n", s, float64(info.Size())/1e6/s)
}
GO
{
	echo "name: Speed"; echo "parties: 2"; echo "max_rows: 10000000"; echo "features:"
	for j in $(seq -w 1 50); do echo "  - {name: f$j, range: [0, 200]}"; done
	echo 'label: {name: outcome, levels: ["no", "yes"], positive: "yes"}'
	echo 'basis: {dim: 5}'
} > study.yaml
export CONCORDD_DIR=$dir/analyst CONCORD_DIR=$dir/site
port=$((20000 + RANDOM % 20000))
"$bin/concordd" --dir analyst init --name Office --address 127.0.0.1:$port > /dev/null
"$bin/concordd" --dir analyst study create study.yaml > /dev/null
invite=$("$bin/concordd" --dir analyst invite --admit | grep -o 'concord-invite/[^ ]*' | head -1)
"$bin/concordd" --dir analyst serve > serve.log 2>&1 &
server=$!
for _ in $(seq 50); do "$bin/concord" --dir site join "$invite" --name North > /dev/null 2>&1 && break; sleep 0.2; done
kill -INT $server; wait $server || true
bytes=$(stat -c %s rows.csv)
go run csvonly.go rows.csv
for _ in 1 2 3; do
	start=$(date +%s.%N)
	"$bin/concord" --dir site check rows.csv > check.txt || { cat check.txt; exit 1; }
	end=$(date +%s.%N)
	awk -v s="$start" -v e="$end" -v b="$bytes" 'BEGIN { printf "concord check: %.2f s, %.0f MB/s\n", e - s, b / 1e6 / (e - s) }'
done
