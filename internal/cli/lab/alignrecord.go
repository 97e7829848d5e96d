package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"concord/align"
	"concord/linalg"
)

// alignRecord is align.json. Its keys are documented in the command's help.
type alignRecord struct {
	Format      int          `json:"format"`
	Method      string       `json:"method"`
	Solver      string       `json:"solver"`
	Dim         int          `json:"dim"`
	Target      align.Target `json:"target"`
	Seed        uint64       `json:"seed"`
	Seconds     float64      `json:"seconds"`
	Residual    float64      `json:"residual"`
	Objective   float64      `json:"objective"`
	Eigenvalues []float64    `json:"eigenvalues"`
	Iterations  int          `json:"iterations"`
	Converged   bool         `json:"converged"`
	Ranks       []int        `json:"ranks"`
	Conditions  []float64    `json:"conditions"`
	Rows        int          `json:"rows"`
	Files       []alignFile  `json:"files"`
	Start       string       `json:"start,omitempty"`
	Overlap     []float64    `json:"overlap,omitempty"`
	Singular    []float64    `json:"singular_values,omitempty"`
	Weights     []float64    `json:"weights,omitempty"`
	LogDet      []float64    `json:"log_det,omitempty"`
	Eta         float64      `json:"eta,omitempty"`
	Warnings    []string     `json:"warnings"`
	Streamed    bool         `json:"streamed"`
	Backend     string       `json:"backend"`
	PeakRSS     int64        `json:"peak_rss_bytes"`
}

type alignFile struct {
	File string `json:"file"`
	Cols int    `json:"cols"`
}

func (f *alignFlags) record(res *align.Result, seconds float64, arrays []array) ([]byte, error) {
	files := make([]alignFile, len(arrays))
	for i, a := range arrays {
		files[i] = alignFile{a.path, a.cols}
	}
	b, err := json.MarshalIndent(alignRecord{
		Format: 1, Method: res.Method, Solver: res.Solver, Dim: res.Dim, Target: res.Target, Seed: f.seed,
		Seconds: seconds, Residual: res.Residual, Objective: res.Objective,
		Eigenvalues: notNil(res.Eigenvalues), Iterations: res.Iterations, Converged: res.Converged,
		Ranks: notNil(res.Ranks), Conditions: notNil(res.Conds),
		Rows: arrays[0].rows, Files: files, Start: res.Start, Overlap: res.Overlap, Singular: res.Singular,
		Weights: res.Weights, LogDet: res.LogDet, Eta: res.Eta, Warnings: notNil(res.Warnings),
		Streamed: f.stream, Backend: backend(), PeakRSS: peakRSS(),
	}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", recordFile, err)
	}
	return append(b, '\n'), nil
}

// notNil makes JSON write [] and not null.
func notNil[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// backend says what computes, without the path of the library.
func backend() string {
	b := linalg.Backend()
	s := strings.TrimSpace(b.Name + " " + b.Version)
	if b.Product != b.Name {
		s += ", products by " + b.Product
	}
	return s
}

// mostLines is how many parties or warnings are printed.
const mostLines = 20

func (f *alignFlags) print(w io.Writer, res *align.Result, seconds float64, arrays []array) error {
	parties := "1 party"
	if len(arrays) > 1 {
		parties = fmt.Sprintf("%d parties", len(arrays))
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "method\t%s, solver %s, %s\n", res.Method, res.Solver, backend())
	fmt.Fprintf(t, "size\t%s, %d anchor rows, d = %d\n", parties, arrays[0].rows, res.Dim)
	fmt.Fprintf(t, "seconds\t%.4g\n", seconds)
	fmt.Fprintf(t, "residual\t%.6g\n", res.Residual)
	fmt.Fprintf(t, "objective\t%.6g\n", res.Objective)
	if res.Iterations > 0 {
		end := "not converged"
		if res.Converged {
			end = "converged"
		}
		fmt.Fprintf(t, "iterations\t%d, %s, start %s\n", res.Iterations, end, res.Start)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nparty\tcolumns\trank\tcondition")
	if res.Overlap != nil {
		fmt.Fprint(t, "\toverlap")
	}
	fmt.Fprint(t, "\tfile\n")
	for i, a := range arrays[:min(len(arrays), mostLines)] {
		fmt.Fprintf(t, "%d\t%d\t%d\t%.3g", i+1, a.cols, res.Ranks[i], res.Conds[i])
		if res.Overlap != nil {
			fmt.Fprintf(t, "\t%.3f", res.Overlap[i])
		}
		fmt.Fprintf(t, "\t%s\n", a.path)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if n := len(arrays) - mostLines; n > 0 {
		fmt.Fprintf(w, "... and %d more\n", n)
	}
	_, err := fmt.Fprintf(w, "\nwrote %s to %s and %s\n", filepath.Join(f.out, outName(0)), outName(len(arrays)-1), recordFile)
	return err
}

var (
	subject = regexp.MustCompile(`\bA_(\d+) has\b`)
	party   = regexp.MustCompile(`^party (\d+):`)
)

// nameFiles puts file names in place of A_1, A_2, ... where an error has them as
// its subject.
func nameFiles(err error, paths []string) error {
	text := subject.ReplaceAllStringFunc(err.Error(), func(s string) string {
		n, _ := strconv.Atoi(subject.FindStringSubmatch(s)[1])
		if n < 1 || n > len(paths) {
			return s
		}
		return paths[n-1] + " has"
	})
	if text == err.Error() {
		return err
	}
	return errors.New(strings.TrimPrefix(text, "align: "))
}

// nameParties adds the file's name to warnings that begin with a party.
func nameParties(warnings, paths []string) []string {
	named := make([]string, len(warnings))
	for k, w := range warnings {
		named[k] = w
		if m := party.FindStringSubmatch(w); m != nil {
			if n, _ := strconv.Atoi(m[1]); n >= 1 && n <= len(paths) {
				named[k] = paths[n-1] + ": " + w
			}
		}
	}
	return named
}
