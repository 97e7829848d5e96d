package lab_test

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/lab"
	"concord/lab/dataset"
	"concord/learn"
)

// TestViewsOfAllColumns: views that lack nothing change nothing.
func TestViewsOfAllColumns(t *testing.T) {
	d := twoClasses(400, 6)
	s := small(t)
	with := s
	with.ViewColumns = [][]string{d.Features, d.Features}
	same(t, "views of all columns", repeat(t, s, d, lab.Repeats{Count: 2}), repeat(t, with, d, lab.Repeats{Count: 2}))
}

// TestViewsRun: every anchor and basis works with views that share some columns, and
// parties differ in their dimensions.
func TestViewsRun(t *testing.T) {
	d := twoClasses(400, 6)
	run := func(name string, change func(*lab.Setting)) {
		t.Helper()
		s := small(t)
		s.Views, s.Shared = 2, 2
		s.Cases[0].Basis, s.Cases[0].Align = lab.Basis{Dim: 3}, alignments(t, "ls-sigma", "gep+unit", "consensus")
		change(&s)
		r := repeat(t, s, d, lab.Repeats{Count: 2})
		for _, c := range s.Cases {
			for _, a := range c.Align {
				if _, ok := r.Summary(lab.Cell{Case: c.Name, Method: a.Name, Model: "logistic", Metric: "roc_auc"}); !ok {
					t.Errorf("%s: no result of %s", name, a.Name)
				}
			}
		}
	}
	for _, kind := range []string{"uniform", "normal", "orthonormal", "low-rank", "smote", "gaussian"} {
		run(kind, func(s *lab.Setting) { s.Cases[0].Anchor = lab.Anchor{Kind: kind, Rows: 120} })
	}
	for _, kind := range lab.BasisKinds() {
		run(kind, func(s *lab.Setting) { s.Cases[0].Basis.Kind = kind })
	}
	run("nri", func(s *lab.Setting) { s.Cases[0].Protocol, s.Cases[0].Anchor.Kind = "nri", "normal" })
	run("dims", func(s *lab.Setting) {
		s.Views, s.Shared = 0, 0
		s.ViewColumns, s.ViewDims = [][]string{{"a", "b", "c", "d", "e"}, {"d", "e", "f"}}, []int{4, 2}
	})
	run("fraction", func(s *lab.Setting) {
		s.Views, s.Shared = 0, 0
		s.ViewColumns, s.Cases[0].Basis = [][]string{{"a", "b", "c", "d", "e"}, {"d", "e", "f"}}, lab.Basis{Fraction: 0.8}
	})
	run("a dimension that is cut", func(s *lab.Setting) { s.Cases[0].Basis.Dim = 6 })
}

// TestViewsRelated: rows of four columns that repeat one hidden number. Two views without
// a common column have nothing that relates them for an orthonormal anchor, so that a
// Procrustes alignment may put them together with either sign; an anchor of pooled
// covariances with one shared column between them has it. A sum of right and wrong signs
// ranks as chance does; related views rank as the hidden number.
func TestViewsRelated(t *testing.T) {
	d := twoClasses(600, 5)
	rows := make([]int, 600)
	for i := range rows {
		rows[i] = i
	}
	x, _ := d.Take(rows)
	hidden := mat.NewDense(600, 5, nil)
	for i := range 600 {
		d.Y.Labels[i] = 0
		if x.At(i, 0) > 0 {
			d.Y.Labels[i] = 1
		}
		for j := range 5 {
			hidden.Set(i, j, x.At(i, 0)+0.3*x.At(i, j))
		}
	}
	d = &dataset.Data{Name: "hidden", Positive: 1, Features: d.Features, X: dataset.Dense(hidden), Y: learn.Target{Classes: d.Y.Classes, Labels: d.Y.Labels}}
	auc := func(views [][]string, anchor string) []float64 {
		s := small(t)
		s.ViewColumns = views
		s.Cases[0].Anchor = lab.Anchor{Kind: anchor, Rows: 200}
		s.Cases[0].Basis, s.Cases[0].Align = lab.Basis{Dim: 1}, []lab.Alignment{alignments(t, "consensus")[0].WithDim(1)}
		return repeat(t, s, d, lab.Repeats{Count: 12}).Values[lab.Cell{Method: "consensus", Model: "logistic", Metric: "roc_auc"}]
	}
	// Related: good every time. Blind: half of the signs are wrong, and of twelve draws
	// all are right once in 4096; with wrong signs the two sides cancel.
	if v := auc([][]string{{"a", "b", "c"}, {"c", "d", "e"}}, "gaussian"); slices.Min(v) < 0.9 {
		t.Errorf("related views: ROC-AUC %v", v)
	}
	if v := auc([][]string{{"a", "b"}, {"c", "d", "e"}}, "orthonormal"); slices.Min(v) > 0.9 {
		t.Errorf("unrelated views: ROC-AUC %v, the alignment has seen what is not there", v)
	}
}

func TestViewsRefused(t *testing.T) {
	d := twoClasses(200, 6)
	for _, tc := range []struct {
		want   string
		change func(*lab.Setting)
	}{
		{"views is 1", func(s *lab.Setting) { s.Views = 1 }},
		{"views is -2", func(s *lab.Setting) { s.Views = -2 }},
		{"shared is -1", func(s *lab.Setting) { s.Views, s.Shared = 2, -1 }},
		{"there are none", func(s *lab.Setting) { s.Shared = 2 }},
		{"exclude each other", func(s *lab.Setting) { s.Views, s.Halves = 2, true }},
		{"4 parties cannot hold 5 views", func(s *lab.Setting) { s.Views = 5 }},
		{"the first says it all", func(s *lab.Setting) { s.ViewColumns, s.Shared = [][]string{{"a", "b"}, {"c"}}, 1 }},
		{"3 dimensions for 2 views", func(s *lab.Setting) { s.Views, s.ViewDims = 2, []int{1, 2, 3} }},
		{"dimension 0 of view 1", func(s *lab.Setting) { s.Views, s.ViewDims = 2, []int{0, 2} }},
		{`view 2 has the column "z"`, func(s *lab.Setting) { s.ViewColumns = [][]string{{"a", "b"}, {"c", "z"}} }},
		{"6 features cannot be dealt over 3 views with 4 in all of them", func(s *lab.Setting) { s.Views, s.Shared = 3, 4 }},
	} {
		s := small(t)
		tc.change(&s)
		if _, err := s.Repeat(t.Context(), d, lab.Repeats{Count: 1}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error %v, want %q", err, tc.want)
		}
	}
}

// TestViewsDealFeatures: the columns of a category stay in one view, so that dealing two
// categories and two numbers over two views leaves no party with half a category.
func TestViewsDealFeatures(t *testing.T) {
	n := 200
	x := mat.NewDense(n, 8, nil)
	d := &dataset.Data{Name: "levels", Positive: 1, Features: []string{"a=x", "a=y", "n", "b=x", "b=y", "b=z", "k", "a=z"}, Y: learn.Target{Classes: []string{"0", "1"}, Labels: make([]int, n)}}
	for i := range n {
		x.Set(i, []int{0, 1, 7}[i%3], 1)
		x.Set(i, 3+i/3%3, 1)
		x.Set(i, 2, float64(i%7))
		x.Set(i, 6, float64(i%11))
		d.Y.Labels[i] = (i/5 + i) % 2
	}
	d.X = dataset.Dense(x)
	s := small(t)
	s.Views, s.Parties, s.Rows, s.Test = 2, 2, 60, 40
	s.Baselines = []string{"central", "central-seen", "local"}
	s.Cases[0].Basis, s.Cases[0].Align = lab.Basis{Fraction: 0.9}, alignments(t, "consensus")
	r := repeat(t, s, d, lab.Repeats{Count: 4})
	for _, m := range s.Baselines {
		if v, ok := r.Summary(lab.Cell{Method: m, Model: "logistic", Metric: "roc_auc"}); !ok || v.N != 4 {
			t.Errorf("%s: %+v", m, v)
		}
	}
	// Four features are dealt two and two; five views have not enough.
	s.Views, s.Parties = 5, 5
	s.Rows = 20
	if _, err := s.Repeat(t.Context(), d, lab.Repeats{Count: 1}); err == nil || !strings.Contains(err.Error(), "4 features cannot be dealt over 5 views") {
		t.Errorf("five views of four features: %v", err)
	}
}

// TestCentralSeen: where nobody lacks anything it is central; where test rows are seen in
// part only it ranks them worse than who sees them whole.
func TestCentralSeen(t *testing.T) {
	d := twoClasses(600, 8)
	s := small(t)
	s.Baselines = []string{"central", "central-seen"}
	at := func(method string, r *lab.Results) float64 {
		v, ok := r.Summary(lab.Cell{Method: method, Model: "logistic", Metric: "roc_auc"})
		if !ok {
			t.Fatalf("no %s", method)
		}
		return v.Mean
	}
	if r := repeat(t, s, d, lab.Repeats{Count: 2}); at("central", r) != at("central-seen", r) {
		t.Errorf("without views: central %v, central-seen %v", at("central", r), at("central-seen", r))
	}
	s.Views = 2
	s.Cases[0].Basis, s.Cases[0].Align = lab.Basis{Fraction: 0.9}, alignments(t, "consensus")
	if r := repeat(t, s, d, lab.Repeats{Count: 4}); !(at("central-seen", r) < at("central", r)) {
		t.Errorf("with views: central %v, central-seen %v", at("central", r), at("central-seen", r))
	}
}
