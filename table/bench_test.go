package table_test

import (
	"bytes"
	"encoding/csv"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"concord/contract"
	"concord/table"
)

// numbersCSV is a file of n rows of m numbers, written with the given format and
// precision, and its contract.
func numbersCSV(n, m int, format byte, precision int) ([]byte, *contract.Contract) {
	c := &contract.Contract{Label: contract.Label{Name: "label", Type: "number"}, Standardise: "none", MaxRows: n}
	rnd := rand.New(rand.NewPCG(8, 4))
	var b []byte
	for j := range m {
		name := "f" + strconv.Itoa(j)
		c.Features = append(c.Features, contract.Feature{Name: name, Type: contract.Numeric, Range: &contract.Range{Min: -1e4, Max: 1e4}})
		b = append(append(b, name...), ',')
	}
	b = append(b, "label\n"...)
	for range n {
		for range m {
			b = append(strconv.AppendFloat(b, 100*rnd.NormFloat64(), format, precision, 64), ',')
		}
		b = append(strconv.AppendInt(b, rnd.Int64N(100), 10), '\n')
	}
	return b, c
}

// BenchmarkScan reads and checks 50 numeric columns of CSV from memory. Beside the
// rate it says how much longer that takes than encoding/csv alone on the same bytes in
// the same run.
func BenchmarkScan(b *testing.B) {
	for _, test := range []struct {
		name      string
		format    byte
		precision int
	}{{"4-decimals", 'f', 4}, {"17-digits", 'g', -1}} {
		b.Run(test.name, func(b *testing.B) {
			text, c := numbersCSV(20_000, 50, test.format, test.precision)
			b.SetBytes(int64(len(text)))
			var alone, all time.Duration
			for b.Loop() {
				b.StopTimer()
				began := time.Now()
				r := csv.NewReader(bytes.NewReader(text))
				r.ReuseRecord = true
				for {
					if _, err := r.Read(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
				alone += time.Since(began)
				b.StartTimer()
				began = time.Now()
				sum := 0.0
				_, err := table.ScanCSV(bytes.NewReader(text), "x.csv", c, table.Options{}, func(r *table.Row) error {
					sum += r.X[0]
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
				all += time.Since(began)
			}
			b.ReportMetric(all.Seconds()/alone.Seconds(), "ratio-to-encoding/csv")
		})
	}
}
