#!/bin/bash
# Times `concord check` on a CSV of ROWS x 50 numbers, end to end with the built program,
# beside encoding/csv alone on the same file, in turns:
#
#   make build && bench/check.sh [-17] [ROWS] [FOLDER]
#
# -17 writes the numbers with 17 digits, as programs print a float64, instead of 4. FOLDER
# (default: a temporary one, deleted at the end) takes the file, for a million rows 300 MB
# or 950 MB, and a study of one site. "busy" is time of the processors, user and system.
# Run it alone on the machine.
set -euo pipefail
bin=$(cd "$(dirname "$0")/.." && pwd)/bin
digits=4
[ "${1:-}" != -17 ] || { digits=17; shift; }
rows=${1:-1000000}
dir=${2:-$(mktemp -d)}
[ $# -ge 2 ] || trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"
cd "$dir"
file=rows$digits.csv
if [ ! -s $file ]; then
	awk -v n="$rows" -v digits=$digits 'BEGIN { srand(1); f = "%." digits "g,"; for (j = 1; j <= 50; j++) printf "f%02d,", j; print "outcome"
		for (i = 0; i < n; i++) { for (j = 1; j <= 50; j++) printf f, 200 * rand(); print (rand() < .5 ? "no" : "yes") } }' > $file
fi
rm -rf analyst site
cat > csvonly.go <<'GO'
package main

import (
	"encoding/csv"
	"io"
	"os"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	r := csv.NewReader(f)
	r.ReuseRecord = true
	for err == nil {
		_, err = r.Read()
	}
	if err != io.EOF {
		panic(err)
	}
}
GO
go build -o csvonly csvonly.go
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

# seconds COMMAND... says how long a command took: elapsed, and the processors.
TIMEFORMAT='%R %U %S'
seconds() { { time "$@" > out.txt; } 2>&1 | awk '{ print $1, $2 + $3 }'; }
bytes=$(stat -c %s $file)
cat $file > /dev/null
echo "$rows rows of 50 numbers of $digits digits, $((bytes / 1000000)) MB; elapsed and busy seconds"
for _ in 1 2 3 4 5; do
	echo "$(seconds ./csvonly $file) $(seconds "$bin/concord" --dir site check $file)"
	grep -q 'fits the contract' out.txt || { cat out.txt >&2; exit 1; }
done | awk -v mb=$((bytes / 1000000)) '
	{ printf "encoding/csv alone %5.2f (%5.2f busy)   concord check %5.2f (%5.2f busy), %3.0f MB/s   ratio %.2f (%.2f busy)\n", $1, $2, $3, $4, mb / $3, $3 / $1, $4 / $2
	  if (NR == 1 || $3 < best) best = $3; if ($3 > worst) worst = $3
	  if (NR == 1 || $1 < cbest) cbest = $1; if ($1 > cworst) cworst = $1 }
	END { printf "encoding/csv alone %.0f to %.0f MB/s, concord check %.0f to %.0f MB/s\n", mb / cworst, mb / cbest, mb / worst, mb / best }'
