package table_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"concord/table"
)

// FuzzReadCSV holds that no input panics, that what is accepted fits the
// contract, and that what is refused says where.
func FuzzReadCSV(f *testing.F) {
	for _, d := range defects {
		if len(d.text) < 4096 {
			f.Add([]byte(d.text), byte(0))
			f.Add([]byte(d.text), byte(15))
		}
	}
	f.Add([]byte(header+"1,20,5,benign\n2,30,-.5e3,malignant\n"), byte(0))
	f.Add([]byte(compressed("\ufeff"+header+"1,\" 20\",5,benign\r\n\n")), byte(3))
	c := newContract()
	f.Fuzz(func(t *testing.T, text []byte, bits byte) {
		opt := table.Options{
			Label:           table.LabelMode(bits % 3),
			AllowExtra:      bits&4 != 0,
			AllowOutOfRange: bits&8 != 0,
		}
		got, err := table.ReadCSV(bytes.NewReader(text), "x.csv", c, opt)
		if err != nil {
			var errs *table.Errors
			if !errors.As(err, &errs) || len(errs.Problems) == 0 || len(errs.Problems) > table.MaxProblems {
				t.Fatalf("error is %T: %v", err, err)
			}
			for _, p := range errs.Problems {
				if !strings.HasPrefix(p.Error(), "x.csv: ") || p.Problem == "" || p.Line < 0 || p.Column < 0 {
					t.Errorf("problem %+v", p)
				}
			}
			if got != nil {
				t.Error("a table came with the error")
			}
			return
		}
		n, m := got.X().Dims()
		if n != got.Rows() || n < 1 || n > c.MaxRows || m != len(c.Features) {
			t.Fatalf("X is %d × %d, Rows %d", n, m, got.Rows())
		}
		outside := make([]int, m)
		for i := range n {
			for j, r := range c.Features {
				x := got.X().Reveal().At(i, j)
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("row %d, feature %d is not finite", i, j)
				}
				if r.Range != nil && (x < r.Range.Min || x > r.Range.Max) {
					outside[j]++
				}
			}
			if line := got.Line(i); line < 2 || i > 0 && line <= got.Line(i-1) {
				t.Fatalf("row %d is on line %d", i, line)
			}
		}
		for j, want := range outside {
			if got.OutOfRange()[j] != want || want > 0 && !opt.AllowOutOfRange {
				t.Errorf("feature %d: %d values out of range, %d counted", j, want, got.OutOfRange()[j])
			}
		}
		if labels := got.Labels(); labels != nil && len(labels) != n || labels == nil && opt.Label == table.Required || labels != nil && opt.Label == table.Ignored {
			t.Errorf("%d labels for %d rows, mode %d", len(labels), n, opt.Label)
		}
		total := 0
		for _, k := range got.ClassCounts() {
			total += k
		}
		if total != len(got.Labels()) {
			t.Errorf("class counts sum to %d, %d labels", total, len(got.Labels()))
		}
	})
}
