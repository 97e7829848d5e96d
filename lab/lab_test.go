package lab_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/internal/durable"
	"concord/lab"
	"concord/lab/dataset"
	"concord/learn"
)

// twoClasses are n rows of m features, of which the sum with noise decides the class.
func twoClasses(n, m int) *dataset.Data {
	rnd := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	x := mat.NewDense(n, m, nil)
	d := &dataset.Data{Name: "two", Positive: 1, Y: learn.Target{Classes: []string{"no", "yes"}}}
	for j := range m {
		d.Features = append(d.Features, string(rune('a'+j)))
	}
	for i := range n {
		z := rnd.NormFloat64()
		for j := range m {
			v := rnd.NormFloat64()
			x.Set(i, j, 3*v+float64(j))
			z += v
		}
		k := 0
		if z > 0 {
			k = 1
		}
		d.Y.Labels = append(d.Y.Labels, k)
		d.Group = append(d.Group, i%7)
	}
	d.Groups = []string{"A", "B", "C", "D", "E", "F", "G"}
	d.X = dataset.Dense(x)
	return d
}

func alignments(t *testing.T, names ...string) []lab.Alignment {
	t.Helper()
	var out []lab.Alignment
	for _, n := range names {
		a, err := lab.ParseAlignment(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a)
	}
	return out
}

func model(kind string) []lab.Model { return []lab.Model{{Spec: learn.Spec{Kind: kind}}} }

func small(t *testing.T) lab.Setting {
	return lab.Setting{
		Parties: 4, Rows: 30, Test: 60, Models: model("logistic"),
		Cases: []lab.Case{{Basis: lab.Basis{Dim: 4}, Align: alignments(t, "odc", "ls+unit", "consensus")}},
	}
}

func repeat(t *testing.T, s lab.Setting, d *dataset.Data, opt lab.Repeats) *lab.Results {
	t.Helper()
	r, err := s.Repeat(t.Context(), d, opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same compares all values but times.
func same(t *testing.T, what string, a, b *lab.Results) {
	t.Helper()
	for _, c := range a.Cells {
		if c.Metric == lab.Seconds {
			continue
		}
		if !reflect.DeepEqual(a.Values[c], b.Values[c]) {
			t.Errorf("%s: %v is %v and %v", what, c, a.Values[c], b.Values[c])
		}
	}
}

func TestRepeatsAreTheSameOnAnyWorkers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	d := twoClasses(400, 6)
	for _, kind := range []string{"logistic", "forest", "mlp"} {
		s := small(t)
		s.Models = model(kind)
		s.Baselines = []string{"central", "local", "dp:8"}
		if kind != "forest" {
			s.Baselines = append(s.Baselines, "fedavg")
		}
		one := repeat(t, s, d, lab.Repeats{Count: 4, Seed: 7, Workers: 1})
		same(t, kind+", three workers", one, repeat(t, s, d, lab.Repeats{Count: 4, Seed: 7, Workers: 3}))
		more := repeat(t, s, d, lab.Repeats{Count: 5, Seed: 7})
		for c, v := range one.Values {
			if c.Metric != lab.Seconds && !reflect.DeepEqual(v, more.Values[c][:4]) {
				t.Errorf("%s: %v changes with the number of repeats", kind, c)
			}
		}
		other := repeat(t, s, d, lab.Repeats{Count: 4, Seed: 8})
		c := lab.Cell{Method: "central", Model: kind, Metric: "roc_auc"}
		if reflect.DeepEqual(one.Values[c], other.Values[c]) {
			t.Errorf("%s: another seed gives the same draws", kind)
		}
		if v := one.Values[c]; v[0] == v[1] && v[1] == v[2] {
			t.Errorf("%s: repeats do not differ: %v", kind, v)
		}
	}
}

// TestSquareBasesLoseNothing: with l = m every F_i G_i of ODC is one orthogonal map
// ([nosaka2025], Theorem IV.3), and a learner whose penalty does not see rotations gives
// central's model.
func TestSquareBasesLoseNothing(t *testing.T) {
	d := twoClasses(400, 5)
	for _, kind := range []string{"ridge", "logistic", "svm"} {
		for _, common := range []string{"", "first", "pooled"} {
			s := small(t)
			s.Models = model(kind)
			s.Cases = []lab.Case{{Basis: lab.Basis{Dim: 5, Common: common}, Align: alignments(t, "odc", "opp", "gopp")}}
			r := repeat(t, s, d, lab.Repeats{Count: 3})
			for _, m := range []string{"odc", "opp", "gopp"} {
				central := r.Values[lab.Cell{Method: "central", Model: kind, Metric: "roc_auc"}]
				for i, v := range r.Values[lab.Cell{Method: m, Model: kind, Metric: "roc_auc"}] {
					// A tolerance of fits may exchange two of 900 pairs of test rows.
					if math.Abs(v-central[i]) > 0.0025 {
						t.Errorf("%s, common %q, %s, repeat %d: %v, central %v", kind, common, m, i+1, v, central[i])
					}
				}
			}
		}
	}
}

// TestNRIFollowsDC: under nri the party's own ridge, trained on the analyst's scores
// for an anchor, is the released model, if the anchor spans the features: a linear
// function is known from its values there.
func TestNRIFollowsDC(t *testing.T) {
	d := twoClasses(400, 6)
	s := small(t)
	s.Models = []lab.Model{{Spec: learn.Spec{Kind: "ridge", Alpha: 1e-9}}}
	basis := lab.Basis{Kind: "pca", Mix: "normal", Dim: 4}
	s.Cases = []lab.Case{
		{Name: "dc", Basis: basis, Anchor: lab.Anchor{Kind: "normal"}, Align: alignments(t, "ls-sigma")},
		{Name: "nri", Protocol: "nri", Answers: "soft", Basis: basis, Anchor: lab.Anchor{Kind: "normal"}, Align: alignments(t, "ls-sigma")},
	}
	r := repeat(t, s, d, lab.Repeats{Count: 3})
	a := r.Values[lab.Cell{Case: "dc", Method: "ls-sigma", Model: "ridge", Metric: "roc_auc"}]
	b := r.Values[lab.Cell{Case: "nri", Method: "ls-sigma", Model: "ridge", Metric: "roc_auc"}]
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9 { // the same order of the same scores
			t.Errorf("repeat %d: dc %v, nri %v", i+1, a[i], b[i])
		}
	}
}

func TestEverySplitAnchorAndBasis(t *testing.T) {
	d := twoClasses(700, 6)
	run := func(what string, change func(*lab.Setting)) {
		s := small(t)
		change(&s)
		r := repeat(t, s, d, lab.Repeats{Count: 2, Public: map[string]*dataset.Data{"public": twoClasses(300, 6)}})
		for _, c := range r.Cells {
			for _, v := range r.Values[c] {
				if c.Metric == "roc_auc" && !(v > 0.5 && v <= 1) {
					t.Errorf("%s: %v is %v: no better than a guess on easy data", what, c, v)
				}
			}
		}
	}
	for _, split := range []string{"even", "dirichlet", "by"} {
		run("split "+split, func(s *lab.Setting) { s.Split, s.Alpha = split, 2 })
	}
	run("split skewed, consensus basis", func(s *lab.Setting) {
		s.Split, s.Baselines, s.Cases[0].Basis.Common = "skewed", []string{"central"}, "pooled"
	})
	run("split classes", func(s *lab.Setting) {
		s.Split, s.Rows, s.Baselines, s.Cases[0].Basis.Common = "classes", 0, []string{"central"}, "pooled"
	})
	for _, kind := range lab.AnchorKinds() {
		run("anchor "+kind, func(s *lab.Setting) { s.Cases[0].Anchor = lab.Anchor{Kind: kind, Rows: 50, Data: []string{"public"}} })
	}
	for _, kind := range lab.BasisKinds() {
		run("basis "+kind, func(s *lab.Setting) { s.Cases[0].Basis.Kind = kind })
	}
	for _, mix := range []string{"haar", "uniform", "normal", "none"} {
		run("mix "+mix, func(s *lab.Setting) {
			s.Cases[0].Basis.Mix, s.Cases[0].Align = mix, alignments(t, "ls-sigma", "gep+unit", "gep-weighted+unit", "rdp-ls", "rdp-opp", "ls-random+unit")
		})
	}
	for _, standardise := range []string{"pooled", "all", "party", "none"} {
		run("standardise "+standardise, func(s *lab.Setting) { s.Standardise, s.Pool = standardise, 300 })
	}
	run("halves", func(s *lab.Setting) {
		s.Halves = true
		s.Cases[0].Anchor, s.Cases[0].Basis = lab.Anchor{Kind: "low-rank", Rows: 200, Rank: 6}, lab.Basis{Dim: 3}
	})
	run("sizes", func(s *lab.Setting) { s.Parties, s.Rows, s.Sizes = 0, 0, []int{200, 20, 60} })
	run("spread", func(s *lab.Setting) { s.Score = "spread" })
	run("fraction", func(s *lab.Setting) { s.Cases[0].Basis = lab.Basis{Fraction: 0.7} })
	run("variance", func(s *lab.Setting) { s.Cases[0].Basis = lab.Basis{Kind: "pca", Variance: 0.9} })
	run("hard answers", func(s *lab.Setting) { s.Cases[0].Protocol, s.Cases[0].Anchor.Kind = "nri", "normal" })
	run("soft answers", func(s *lab.Setting) {
		s.Cases[0].Protocol, s.Cases[0].Answers, s.Cases[0].Anchor.Kind = "nri", "soft", "normal"
	})
}

func TestNumbersAndManyClasses(t *testing.T) {
	d := twoClasses(300, 5)
	values := mat.NewDense(300, 1, nil)
	rows := make([]int, 300)
	for i := range rows {
		rows[i] = i
	}
	x, _ := d.Take(rows)
	for i := range 300 {
		values.Set(i, 0, mat.Sum(x.RowView(i)))
	}
	numbers := &dataset.Data{Name: "numbers", Positive: -1, Features: d.Features, X: d.X, Y: learn.Target{Values: values}}
	s := small(t)
	s.Models = model("ridge")
	r := repeat(t, s, numbers, lab.Repeats{Count: 2})
	central, _ := r.Summary(lab.Cell{Method: "central", Model: "ridge", Metric: "rmse"})
	odc, ok := r.Summary(lab.Cell{Method: "odc", Model: "ridge", Metric: "rmse"})
	if !ok || !(central.Mean < 1) || !(odc.Mean < 10) {
		t.Errorf("rmse of a sum of features: central %v, odc %v", central.Mean, odc.Mean)
	}
	three := &dataset.Data{Name: "three", Positive: -1, Features: d.Features, X: d.X, Y: learn.Target{Classes: []string{"a", "b", "c"}, Labels: make([]int, 300)}}
	for i := range three.Y.Labels {
		three.Y.Labels[i] = int(min(2, max(0, 1+(values.At(i, 0)-10)/8)))
	}
	s.Cases[0].Protocol, s.Cases[0].Anchor.Kind = "nri", "normal"
	r = repeat(t, s, three, lab.Repeats{Count: 2})
	if v, ok := r.Summary(lab.Cell{Method: "odc", Model: "ridge", Metric: "accuracy"}); !ok || !(v.Mean > 0.5) {
		t.Errorf("accuracy of three classes %+v", v)
	}
}

func TestJournal(t *testing.T) {
	d := twoClasses(400, 6)
	s := small(t)
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	whole := repeat(t, s, d, lab.Repeats{Count: 6, Seed: 3})

	// Interrupted after two draws.
	ctx, cancel := context.WithCancel(t.Context())
	stop := lab.Repeats{Count: 6, Seed: 3, Workers: 1, Journal: path, Progress: func(p lab.Progress) {
		if p.Done == 2 {
			cancel()
		}
	}}
	if _, err := s.Repeat(ctx, d, stop); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted run returns %v", err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(b), "\n"); lines < 3 {
		t.Fatalf("the journal has %d lines, want the head and two draws", lines)
	}
	// The power failed in the middle of a line.
	if err := os.WriteFile(path, b[:len(b)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	first := -1
	again := repeat(t, s, d, lab.Repeats{Count: 6, Seed: 3, Journal: path, Progress: func(p lab.Progress) {
		if first < 0 {
			first = p.Done
		}
	}})
	if first < 1 {
		t.Errorf("went on from %d draws, want at least one kept", first)
	}
	same(t, "after an interruption", whole, again)
	count := -1
	repeat(t, s, d, lab.Repeats{Count: 6, Seed: 3, Journal: path, Progress: func(p lab.Progress) { count = max(count, p.Done) }})
	if count != 6 {
		t.Errorf("a finished journal reports %d draws", count)
	}

	for name, change := range map[string]func(*lab.Setting, *lab.Repeats){
		"seed":      func(_ *lab.Setting, r *lab.Repeats) { r.Seed = 4 },
		"dimension": func(s *lab.Setting, _ *lab.Repeats) { s.Cases[0].Basis.Dim = 3 },
		"alignment": func(s *lab.Setting, _ *lab.Repeats) { s.Cases[0].Align = alignments(t, "odc") },
		"model":     func(s *lab.Setting, _ *lab.Repeats) { s.Models[0].Spec.C = 2 },
	} {
		s, r := small(t), lab.Repeats{Count: 6, Seed: 3, Journal: path}
		change(&s, &r)
		if _, err := s.Repeat(t.Context(), d, r); !errors.Is(err, lab.ErrOtherJournal) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	changed := twoClasses(400, 6)
	changed.Y.Labels[7] = 1 - changed.Y.Labels[7]
	if _, err := s.Repeat(t.Context(), changed, lab.Repeats{Count: 6, Seed: 3, Journal: path}); !errors.Is(err, lab.ErrOtherJournal) {
		t.Errorf("another label: %v", err)
	}
	for _, bad := range []string{"no journal\n", "no journal", "{}\n", `{"format":2,"setting":""}` + "\n"} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Repeat(t.Context(), d, lab.Repeats{Count: 6, Seed: 3, Journal: path}); err == nil || !strings.Contains(err.Error(), "not a journal") {
			t.Errorf("journal %q: %v", bad, err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != bad {
			t.Errorf("what is no journal was %q and became %q (%v)", bad, b, err)
		}
	}
}

// TestJournalOfOtherData: rows that no hash of the first ones covers, and public rows.
func TestJournalOfOtherData(t *testing.T) {
	s := small(t)
	s.Cases[0].Anchor = lab.Anchor{Kind: "public", Data: []string{"open"}, Rows: 20}
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	run := func(own, open *dataset.Data) error {
		_, err := s.Repeat(t.Context(), own, lab.Repeats{Count: 2, Seed: 3, Journal: path, Public: map[string]*dataset.Data{"open": open, "another": own}})
		return err
	}
	own, open := twoClasses(1200, 6), twoClasses(50, 6)
	if err := run(own, open); err != nil {
		t.Fatal(err)
	}
	if err := run(own, open); err != nil {
		t.Fatalf("the same data: %v", err)
	}
	for name, change := range map[string]func(own, open *dataset.Data){
		"own row":    func(own, _ *dataset.Data) { own.X = changeLast(own.X) },
		"public row": func(_, open *dataset.Data) { open.X = changeLast(open.X) },
	} {
		a, b := twoClasses(1200, 6), twoClasses(50, 6)
		change(a, b)
		if err := run(a, b); !errors.Is(err, lab.ErrOtherJournal) {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

// changeLast is x with another number at its end.
func changeLast(x dataset.Rows) dataset.Rows {
	n, m := x.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	changed := x.Take(all)
	changed.Set(n-1, m-1, changed.At(n-1, m-1)+1)
	return dataset.Dense(changed)
}

// TestJournalDamaged: no damage of a whole line is taken for a result, and journals
// from before checksums are read.
func TestJournalDamaged(t *testing.T) {
	d, s := twoClasses(400, 6), small(t)
	path := filepath.Join(t.TempDir(), "trials.jsonl")
	opt := lab.Repeats{Count: 2, Seed: 3, Journal: path}
	whole := repeat(t, s, d, opt)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitAfter(string(b), "\n")
	at := strings.Index(lines[1], `"values":[0.`) + len(`"values":[0.`)
	for name, line := range map[string]string{
		"a digit":     lines[1][:at] + string('0'+(lines[1][at]-'0'+1)%10) + lines[1][at+1:],
		"a name":      strings.Replace(lines[1], "accuracy", "accuracx", 1),
		"no object":   "[]\n",
		"an unknown":  strings.Replace(lines[1], "{", `{"more":1,`, 1),
		"an empty":    "\n",
		"cut, joined": lines[1][:50] + lines[2],
	} {
		write(lines[0] + line)
		if _, err := s.Repeat(t.Context(), d, opt); err == nil || !strings.Contains(err.Error(), "line 2 is damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
	sums := regexp.MustCompile(`,"(sum|data)":"[0-9a-f]+"`)
	write(sums.ReplaceAllString(string(b), ""))
	same(t, "a journal of before checksums", whole, repeat(t, s, d, opt))

	if runtime.GOOS == "windows" { // has no such locks
		return
	}
	unlock, err := durable.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, err := s.Repeat(t.Context(), d, opt); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a locked journal: %v", err)
	}
}

// TestClassesWithoutRows: parties that see some of many classes have models of those.
func TestClassesWithoutRows(t *testing.T) {
	d := twoClasses(600, 6)
	d.Y.Classes, d.Positive = []string{"a", "b", "c", "d", "e"}, -1
	for i := range d.Y.Labels {
		d.Y.Labels[i] += 2 * (i % 2) // e has no rows
	}
	for _, protocol := range []string{"dc", "nri"} {
		s := small(t)
		s.Split, s.Rows, s.Metrics = "skewed", 40, []string{"accuracy", "balanced_accuracy"}
		s.Baselines = []string{"central", "local", "fedavg"}
		s.Cases[0].Protocol = protocol
		r := repeat(t, s, d, lab.Repeats{Count: 3, Seed: 1})
		central, _ := r.Summary(lab.Cell{Method: "central", Model: s.Models[0].Name, Metric: "accuracy"})
		local, _ := r.Summary(lab.Cell{Method: "local", Model: s.Models[0].Name, Metric: "accuracy"})
		if !(local.Mean > 0 && local.Mean < central.Mean) {
			t.Errorf("%s: local %v, central %v", protocol, local.Mean, central.Mean)
		}
		if !slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "saw no rows of some class") }) {
			t.Errorf("%s: notes %q", protocol, r.Notes)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct {
		change func(*lab.Setting)
		want   string
	}{
		{func(s *lab.Setting) { s.Parties = 0 }, "parties is 0"},
		{func(s *lab.Setting) { s.Parties = 1 << 30 }, "must be from 1 to 100000"},
		{func(s *lab.Setting) { s.Rows = 0 }, "rows is 0"},
		{func(s *lab.Setting) { s.Test = -1 }, "test is -1"},
		{func(s *lab.Setting) { s.Sizes = []int{3, 3} }, "sizes of 2 parties, and parties 4, rows 30"},
		{func(s *lab.Setting) { s.Parties, s.Rows, s.Sizes = 0, 0, []int{3, 0} }, "party 2 has 0 rows"},
		{func(s *lab.Setting) { s.Parties, s.Rows, s.Sizes, s.Split = 0, 0, []int{3}, "by" }, "do not go with the split by"},
		{func(s *lab.Setting) { s.Split = "odd" }, `split is "odd", want one of: even, skewed`},
		{func(s *lab.Setting) { s.Alpha = math.NaN() }, "alpha is NaN"},
		{func(s *lab.Setting) { s.Standardise = "mine" }, "standardise"},
		{func(s *lab.Setting) { s.Score = "none" }, "score"},
		{func(s *lab.Setting) { s.Baselines = []string{"dp"} }, `no baseline "dp"`},
		{func(s *lab.Setting) { s.Baselines = []string{"dp:-1"} }, `no baseline "dp:-1"`},
		{func(s *lab.Setting) { s.Baselines = []string{"dp:1e300"} }, `of at most 1e+06`},
		{func(s *lab.Setting) { s.Baselines = []string{"local", "central", "local"} }, "the baseline local is there twice"},
		{func(s *lab.Setting) { s.Metrics = []string{"accuracy", "accuracy"} }, "the metric accuracy is there twice"},
		{func(s *lab.Setting) { s.Models = nil }, "no models"},
		{func(s *lab.Setting) { s.Models = append(model("svm"), model("svm")...) }, "two models are called"},
		{func(s *lab.Setting) { s.Models = model("oracle") }, `kind is "oracle"`},
		{func(s *lab.Setting) { s.Metrics = []string{"beauty"} }, "beauty"},
		{func(s *lab.Setting) { s.Cases = nil }, "no case"},
		{func(s *lab.Setting) { s.Cases = append(s.Cases, s.Cases[0]) }, "two cases are called"},
		{func(s *lab.Setting) { s.Cases[0].Name = "a/b" }, "slash"},
		{func(s *lab.Setting) { s.Cases[0].Protocol = "tcp" }, `protocol is "tcp"`},
		{func(s *lab.Setting) { s.Cases[0].Anchor.Kind = "iron" }, `anchor is "iron"`},
		{func(s *lab.Setting) { s.Cases[0].Anchor.Kind = "public" }, "needs data sets"},
		{func(s *lab.Setting) { s.Cases[0].Basis.Kind = "lda" }, `basis is "lda"`},
		{func(s *lab.Setting) { s.Cases[0].Basis.Fraction = 0.5 }, "exclude each other"},
		{func(s *lab.Setting) { s.Cases[0].Basis = lab.Basis{Fraction: 1.5} }, "fraction is 1.5"},
		{func(s *lab.Setting) { s.Cases[0].Align = nil }, "no alignment"},
		{func(s *lab.Setting) { s.Cases[0].Align = append(s.Cases[0].Align, s.Cases[0].Align[0]) }, "twice"},
	} {
		s := small(t)
		c.change(&s)
		if _, err := s.Resolve(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if _, err := lab.ParseAlignment("odc+unity"); err == nil || !strings.Contains(err.Error(), "consensus, gep") {
		t.Errorf("an unknown alignment: %v", err)
	}
}

func TestTrialRefuses(t *testing.T) {
	d := twoClasses(100, 6)
	for _, c := range []struct {
		change func(*lab.Setting)
		want   string
	}{
		{func(s *lab.Setting) { s.Rows = 50 }, "need 200 rows"},
		{func(s *lab.Setting) { s.Test = 200 }, "test is 200, there are 100 rows"},
		{func(s *lab.Setting) { s.Rows, s.Parties = 1<<62, 4 }, "4 parties need 18446744073709551616 rows, there are"},
		{func(s *lab.Setting) { s.Parties, s.Rows, s.Sizes = 0, 0, []int{1 << 62, 1 << 62, 1 << 62} }, "3 parties need"},
		{func(s *lab.Setting) { s.Pool = 200 }, "the pool is to have 200 rows, there are 100"},
		{func(s *lab.Setting) { s.Rows, s.Test, s.Cases[0].Anchor = 10, 10, lab.Anchor{Kind: "uniform", Rows: 5} }, "5 rows for 6 features"},
		{func(s *lab.Setting) {
			s.Rows, s.Test, s.Cases[0].Anchor = 10, 10, lab.Anchor{Kind: "normal", Rows: 1 << 62}
		}, "exceed the limit"},
		{func(s *lab.Setting) {
			s.Rows, s.Test, s.Cases[0].Anchor = 10, 10, lab.Anchor{Kind: "smote", Times: 1e300}
		}, "take fewer anchor rows"},
		{func(s *lab.Setting) {
			s.Rows, s.Test, s.Cases[0].Anchor = 10, 10, lab.Anchor{Kind: "low-rank", Rows: 1 << 25}
		}, "take fewer anchor rows"},
		{func(s *lab.Setting) { s.Rows, s.Test, s.Cases[0].Basis.Dim = 10, 10, 7 }, "dim 7 exceeds the 6 features"},
		{func(s *lab.Setting) { s.Rows, s.Test, s.PublishedTest = 10, 10, true }, "no published test"},
		{func(s *lab.Setting) { s.Rows, s.Test, s.Metrics = 10, 10, []string{"rmse"} }, "no metric for this label"},
		{func(s *lab.Setting) {
			s.Rows, s.Test, s.Cases[0].Anchor = 10, 10, lab.Anchor{Kind: "public", Data: []string{"x"}}
		}, "was not given"},
	} {
		s := small(t)
		c.change(&s)
		if _, err := s.Trial(t.Context(), d, nil, 1, 0); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	one := twoClasses(100, 6)
	for i := range one.Y.Labels {
		one.Y.Labels[i] = 0
	}
	s := small(t)
	s.Rows, s.Test = 10, 20
	if _, err := s.Trial(t.Context(), one, nil, 1, 0); err == nil || !strings.Contains(err.Error(), "of one class in 100 draws") {
		t.Errorf("one class: %v", err)
	}
}

// TestOneClassAnswers: GEP's columns are so small that a penalised model is constant,
// and its answers for the anchor all of one class.
func TestOneClassAnswers(t *testing.T) {
	d := twoClasses(400, 6)
	for i := range d.Y.Labels {
		if i%4 == 0 {
			d.Y.Labels[i] = 1 // most rows have this class
		}
	}
	s := small(t)
	s.Cases = []lab.Case{{Protocol: "nri", Anchor: lab.Anchor{Kind: "normal", Rows: 1000}, Basis: lab.Basis{Dim: 4}, Align: alignments(t, "gep")}}
	o, err := s.Trial(t.Context(), d, nil, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range o.Cells {
		if c.Method == "gep" && c.Metric == "roc_auc" && o.Values[i] != 0.5 {
			t.Errorf("a constant model has ROC-AUC %v", o.Values[i])
		}
	}
	if !strings.Contains(strings.Join(o.Notes, "\n"), "all of one class") {
		t.Errorf("notes %q", o.Notes)
	}
	s.Cases[0].OneClass = "refuse"
	if _, err := s.Trial(t.Context(), d, nil, 1, 0); err == nil || !strings.Contains(err.Error(), "answers are all of class 2") {
		t.Errorf("refuse: %v", err)
	}
}

// TestFewRowsCutTheDimension: parties of three rows span at most three directions.
func TestFewRowsCutTheDimension(t *testing.T) {
	s := small(t)
	s.Rows, s.Cases[0].Basis = 3, lab.Basis{Kind: "svd", Dim: 6}
	o, err := s.Trial(t.Context(), twoClasses(200, 6), nil, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(o.Notes, "\n"), "dimension 6 is cut to 3") {
		t.Errorf("notes %q", o.Notes)
	}
}

func TestSummary(t *testing.T) {
	c := lab.Cell{Method: "odc", Metric: "accuracy"}
	r := &lab.Results{Cells: []lab.Cell{c}, Values: map[lab.Cell][]float64{c: {0.5, 0.7, 0.6, 0.8}}}
	s, ok := r.Summary(c)
	// Student's 97.5% point with 3 degrees of freedom is 3.182446.
	if !ok || math.Abs(s.Mean-0.65) > 1e-15 || math.Abs(s.Std-0.1290994) > 1e-7 || math.Abs(s.CI95-3.182446*s.Std/2) > 1e-6 {
		t.Errorf("%+v", s)
	}
	if _, ok := r.Summary(lab.Cell{Method: "nobody"}); ok {
		t.Error("a cell that is not there has a summary")
	}
	if _, err := r.Better(c, lab.Cell{Method: "nobody"}); err == nil {
		t.Error("a test against nothing")
	}
}
