package learn_test

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/mat"

	"concord/learn"
	"concord/metric"
)

// treeCase is data with answers of scikit-learn: testdata/trees.py.
type treeCase struct {
	Name    string
	X       [][]float64
	Y       json.RawMessage
	Classes int
}

type knownTrees struct {
	Trees []struct {
		treeCase
		Depth, Leaf          int
		Feature, Left, Right []int32
		Threshold            []float32
		Values               [][]float64
	}
	Boosting []struct {
		treeCase
		Settings struct {
			Rate      float64 `json:"learning_rate"`
			MaxLeaves int     `json:"max_leaf_nodes"`
			MinLeaf   int     `json:"min_samples_leaf"`
			L2        float64 `json:"l2_regularization"`
			MaxIter   int     `json:"max_iter"`
			MaxDepth  int     `json:"max_depth"`
			Bins      int     `json:"max_bins"`
		}
		Raw [][]float64
	}
	Means []struct {
		treeCase
		Trees, Rounds    int
		Forest, Boosting []float64
	}
}

func readKnownTrees(t *testing.T) knownTrees {
	t.Helper()
	f, err := os.Open("testdata/trees.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var k knownTrees
	if err := json.NewDecoder(z).Decode(&k); err != nil {
		t.Fatal(err)
	}
	if len(k.Trees) != 6 || len(k.Boosting) != 5 || len(k.Means) != 3 {
		t.Fatalf("%d trees, %d boosted and %d means, want 6, 5 and 3", len(k.Trees), len(k.Boosting), len(k.Means))
	}
	return k
}

func (c treeCase) data(t *testing.T) (*mat.Dense, learn.Target) {
	t.Helper()
	var y learn.Target
	if c.Classes > 0 {
		y.Classes = names(c.Classes)
		if err := json.Unmarshal(c.Y, &y.Labels); err != nil {
			t.Fatal(err)
		}
	} else {
		var rows [][]float64
		if err := json.Unmarshal(c.Y, &rows); err != nil {
			t.Fatal(err)
		}
		y.Values = dense(rows)
	}
	return dense(c.X), y
}

// One tree on all rows and columns has the very nodes of scikit-learn's.
func TestTreeIsScikitLearns(t *testing.T) {
	for _, c := range readKnownTrees(t).Trees {
		t.Run(c.Name, func(t *testing.T) {
			x, y := c.data(t)
			_, d := x.Dims()
			m := fitTrees(t, learn.Forest{Trees: 1, NoBootstrap: true, MaxFeatures: d, MaxDepth: c.Depth, MinLeaf: c.Leaf}, x, y)
			want := make([]learn.TreeNode, len(c.Feature))
			for i := range want {
				want[i] = learn.TreeNode{Feature: c.Feature[i], Threshold: c.Threshold[i], Left: c.Left[i], Right: c.Right[i]}
			}
			got := append([]learn.TreeNode(nil), m.Nodes...)
			for i := range got {
				if got[i].Feature != learn.TreeLeaf {
					continue
				}
				// Means of a few hundred rows, the answers with 14 decimals; shares
				// of one tree are rounded to multiples of 2⁻²³.
				tol := 1e-13
				if y.Classification() {
					tol += 1. / (1 << 23)
				}
				near := cmpopts.EquateApprox(0, tol)
				if i < len(c.Values) && !cmp.Equal(m.Values.RawRowView(int(got[i].Left)), c.Values[i], near) {
					t.Errorf("leaf %d has %v, want %v", i, m.Values.RawRowView(int(got[i].Left)), c.Values[i])
				}
				got[i].Left = 0
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("nodes differ:\n%s", d)
			}
		})
	}
}

// Raw predictions of boosting are scikit-learn's. Both round the derivatives to
// 32 bits; sums of 64 bits then agree to about 1e-16 times the rows, and now and
// then a derivative is rounded the other way: 2⁻²⁵ of one row in a leaf of 20,
// times the rate, in each of 100 rounds, which is below 1e-6.
func TestBoostingIsScikitLearns(t *testing.T) {
	for _, c := range readKnownTrees(t).Boosting {
		t.Run(c.Name, func(t *testing.T) {
			x, y := c.data(t)
			s := c.Settings
			m := fitTrees(t, learn.Boosting{
				Rate: s.Rate, MaxLeaves: s.MaxLeaves, MinLeaf: s.MinLeaf, L2: s.L2, MaxIter: s.MaxIter,
				MaxDepth: s.MaxDepth, Bins: s.Bins, EarlyStopping: learn.StopNever,
			}, x, y)
			rounds := s.MaxIter
			if rounds == 0 {
				rounds = 100
			}
			if r := m.Report(); r.Status != learn.Exact || r.Iterations != rounds {
				t.Errorf("report %+v", r)
			}
			m.Link = learn.Identity
			m.Levels = nil
			got := scoresOf(t, m, x)
			want := dense(c.Raw)
			var diff mat.Dense
			diff.Sub(got, want)
			worst := math.Max(mat.Max(&diff), -mat.Min(&diff))
			t.Logf("largest difference %.1e", worst)
			if worst > 1e-6 {
				t.Errorf("raw predictions differ by %g", worst)
			}
		})
	}
}

// Mean test metrics over ten seeds. Of scikit-learn's forests with other seeds
// they have standard deviations up to 0.005, their means of ten 0.0016, and
// differences of two such means 0.0022: 0.01 is more than four of those.
func TestMeansAreScikitLearns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, c := range readKnownTrees(t).Means {
		x, y := c.data(t)
		learners := map[string]func(seed uint64) learn.Learner{
			"forest": func(s uint64) learn.Learner { return learn.Forest{Trees: c.Trees, Seed: s} },
			"boosting": func(s uint64) learn.Learner {
				return learn.Boosting{MaxIter: c.Rounds, Seed: s, EarlyStopping: learn.StopEarly}
			},
		}
		for kind, want := range map[string][]float64{"forest": c.Forest, "boosting": c.Boosting} {
			t.Run(c.Name+", "+kind, func(t *testing.T) {
				xa, ya, xb, yb := thirds(x, y)
				got := make([]float64, len(want))
				for seed := range uint64(10) {
					s := scoresOf(t, fitTrees(t, learners[kind](seed), xa, ya), xb)
					for i, v := range treeMetrics(t, s, yb)[:len(want)] {
						got[i] += v / 10
					}
				}
				t.Logf("%v, scikit-learn %v", got, want)
				if !cmp.Equal(got, want, cmpopts.EquateApprox(0, .01)) {
					t.Errorf("means %v, scikit-learn's %v", got, want)
				}
			})
		}
	}
}

// thirds puts every third row, from the first, into the second pair.
func thirds(x *mat.Dense, y learn.Target) (xa *mat.Dense, ya learn.Target, xb *mat.Dense, yb learn.Target) {
	n, _ := x.Dims()
	var a, b []int
	for i := range n {
		if i%3 == 0 {
			b = append(b, i)
		} else {
			a = append(a, i)
		}
	}
	take := func(rows []int) (*mat.Dense, learn.Target) {
		var px [][]float64
		var pv [][]float64
		p := learn.Target{Classes: y.Classes}
		for _, i := range rows {
			px = append(px, x.RawRowView(i))
			if y.Labels != nil {
				p.Labels = append(p.Labels, y.Labels[i])
			} else {
				pv = append(pv, y.Values.RawRowView(i))
			}
		}
		if pv != nil {
			p.Values = dense(pv)
		}
		return dense(px), p
	}
	xa, ya = take(a)
	xb, yb = take(b)
	return xa, ya, xb, yb
}

// treeMetrics is R² for numbers, else accuracy and, for two classes, ROC-AUC.
func treeMetrics(t *testing.T, s *mat.Dense, y learn.Target) []float64 {
	t.Helper()
	must := func(v float64, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if y.Labels == nil {
		return []float64{must(metric.R2(mat.Col(nil, 0, y.Values), mat.Col(nil, 0, s)))}
	}
	out := []float64{must(metric.Accuracy(y.Labels, learn.Predicted(s)))}
	if len(y.Classes) == 2 {
		positive := make([]bool, len(y.Labels))
		for i, c := range y.Labels {
			positive[i] = c == 1
		}
		out = append(out, must(metric.ROCAUC(positive, mat.Col(nil, 1, s))))
	}
	return out
}
