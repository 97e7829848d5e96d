package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"concord/lab"
	"concord/lab/dataset"
	"concord/metric"
	"concord/wire"
)

// loss says whether less of a metric is better.
func loss(name string) bool {
	m, err := metric.Named(name)
	return err == nil && !m.LargerIsBetter
}

// table prints results for people: a line a method, a column a metric.
func (s simulated) table(w io.Writer) error {
	var metrics, methods []string
	cells := map[[2]string]simulatedResult{}
	for _, r := range s.Results {
		if r.Metric == lab.Seconds {
			continue
		}
		metrics, methods = appendNew(metrics, r.Metric), appendNew(methods, r.Method)
		cells[[2]string{r.Method, r.Metric}] = r
	}
	p := map[[2]string]float64{}
	for _, t := range s.Tests {
		p[[2]string{t.Better, t.Metric}] = t.P
	}
	fmt.Fprintf(w, "%s: %d rows, %s; %s, %s\n\n", wire.Printable(s.Settings.Data), s.Settings.Rows, count(s.Settings.Features, "feature"), s.parties, count(s.Settings.Repeat, "draw"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "method")
	for _, m := range metrics {
		title := m
		if named, err := metric.Named(m); err == nil {
			title = named.Title
		}
		fmt.Fprintf(t, "\t%s\t95%%\tp, better than local", title)
	}
	fmt.Fprintln(t)
	for _, method := range methods {
		fmt.Fprint(t, method)
		for _, m := range metrics {
			r, ok := cells[[2]string{method, m}]
			if !ok {
				fmt.Fprint(t, "\t\t\t")
				continue
			}
			fmt.Fprintf(t, "\t%.4g\t", r.Mean)
			if r.N > 1 { // one draw has no interval
				fmt.Fprintf(t, "± %.2g", r.CI95)
			}
			fmt.Fprint(t, "\t")
			if v, ok := p[[2]string{method, m}]; ok {
				fmt.Fprintf(t, "%.2g", v)
			}
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, n := range s.Notes {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "note: %s\n", wire.Printable(n)); err != nil {
			return err
		}
	}
	return nil
}

// count is a number of things, as 1 draw, 2 draws.
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// parties says how many there are: given, or one for each group of the rows.
func parties(given int, data *dataset.Data) string {
	switch {
	case given == 1:
		return "1 party"
	case given > 0:
		return fmt.Sprintf("%d parties", given)
	}
	return fmt.Sprintf("a party for each of %d groups of rows", len(data.Groups))
}

func appendNew(list []string, s string) []string {
	for _, v := range list {
		if v == s {
			return list
		}
	}
	return append(list, s)
}

// writeJSON writes v to a file, whole or not at all, or to stdout for -.
func writeJSON(path string, stdout io.Writer, v any) error {
	write := func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(v)
	}
	if path == "-" {
		return write(stdout)
	}
	return whole(path, write)
}

// whole writes a file beside its place and renames it.
func whole(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := write(f); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
