package align_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// memory is a stream over matrices in memory that counts how often each is read.
type memory struct {
	mu    sync.Mutex
	a, g  []*mat.Dense
	reads []int
}

func (m *memory) stream() align.Stream {
	m.g, m.reads = make([]*mat.Dense, len(m.a)), make([]int, len(m.a))
	return align.Stream{
		Parties: len(m.a),
		Read: func(i int) (*mat.Dense, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.reads[i]++
			return mat.DenseCopyOf(m.a[i]), nil
		},
		Write: func(i int, g *mat.Dense) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.g[i] != nil {
				return errors.New("written twice")
			}
			m.g[i] = g
			return nil
		},
	}
}

// common returns A_i = A F_i + noise, so that singular values are distinct and
// spans near enough for the Procrustes problem to be well posed.
func common(rows, parties int, width func(i int) int, seed byte) []*mat.Dense {
	src := source(seed)
	a := make([]*mat.Dense, parties)
	base := linalg.Normal(rows, 8, src)
	for i := range a {
		a[i] = mul(base, linalg.Stiefel(8, width(i), src))
		noise := linalg.Normal(rows, width(i), src)
		noise.Scale(0.1, noise)
		a[i].Add(a[i], noise)
	}
	return a
}

// graded returns A_i = A F_i of l columns whose σ_1 is 10 to 1e6 times the others.
func graded(rows, parties, l int, seed byte) []*mat.Dense {
	src := source(seed)
	base := linalg.Normal(rows, 8, src)
	for j := 1; j < 8; j++ {
		for r := range rows {
			base.Set(r, j, base.At(r, j)*math.Pow(10, -float64(min(j, 6))))
		}
	}
	a := make([]*mat.Dense, parties)
	for i := range a {
		a[i] = mul(base, linalg.Stiefel(8, l, src))
	}
	return a
}

func same(i int) int    { return 6 }
func unequal(i int) int { return 4 + i%3 }

// TestStreamIsRun compares with Run. A_iᵀA_1 has a condition number below 1000 and
// the gaps of W's singular values are a thousandth of the largest or more, so
// both ways agree to 1000 · eps · √a, about 1e-11.
func TestStreamIsRun(t *testing.T) {
	cases := map[string]struct {
		method string
		width  func(int) int
		opt    align.Options
	}{
		"odc":           {"odc", same, align.Options{}},
		"odc random":    {"odc", same, align.Options{Target: align.Random}},
		"ls":            {"ls", same, align.Options{}},
		"ls unequal":    {"ls", unequal, align.Options{Dim: 7}},
		"ls sigma":      {"ls", same, align.Options{Target: align.Sigma}},
		"ls random":     {"ls", same, align.Options{Target: align.Random}},
		"ls svd":        {"ls", unequal, align.Options{Solver: "svd"}},
		"ls, one whole": {"ls", same, align.Options{Dim: 1}},
	}
	for name, c := range cases {
		// One party, fewer columns than rows, several groups, several batches.
		for _, parties := range []int{1, 3, 70, 400} {
			if c.opt.Dim > c.width(0)*parties {
				continue
			}
			m := &memory{a: common(50, parties, c.width, byte(parties))}
			opt := c.opt
			opt.Source = source(1)
			got, err := align.RunStream(c.method, m.stream(), opt)
			if err != nil {
				t.Fatalf("%s, %d parties: %v", name, parties, err)
			}
			opt.Source = source(1)
			want := run(t, c.method, m.a, opt)
			for i := range m.a {
				if d := apart(m.g[i], want.G[i]); !(d < 1e-10) {
					t.Errorf("%s, %d parties: G_%d differs by %.1e", name, parties, i+1, d)
				}
			}
			scale := math.Max(want.Objective, 1e-12)
			if math.Abs(got.Residual-want.Residual) > 1e-9*scale || math.Abs(got.Objective-want.Objective) > 1e-9*scale {
				t.Errorf("%s, %d parties: residual %v, objective %v; in memory %v, %v", name, parties, got.Residual, got.Objective, want.Residual, want.Objective)
			}
			if !reflect.DeepEqual(got.Ranks, want.Ranks) || got.Dim != want.Dim || got.Target != want.Target || len(got.Overlap) != len(want.Overlap) {
				t.Errorf("%s, %d parties: %+v, in memory %+v", name, parties, got, want)
			}
			for i, o := range want.Overlap {
				if math.Abs(got.Overlap[i]-o) > 1e-9 {
					t.Errorf("%s, %d parties: overlap %d is %v, in memory %v", name, parties, i+1, got.Overlap[i], o)
				}
			}
		}
	}
}

// TestStreamReads counts how often W is read: the promise of RunStream.
func TestStreamReads(t *testing.T) {
	well := common(50, 30, same, 2)
	ill := graded(50, 30, 6, 2)
	for _, c := range []struct {
		method, solver string
		a              []*mat.Dense
		reads          int
		used           string
	}{
		{"odc", "", well, 1, "polar"},
		{"ls", "", well, 2, "gram"},
		{"ls", "svd", well, 2, "svd"},
		{"ls", "", ill, 3, "svd"},
	} {
		m := &memory{a: c.a}
		res, err := align.RunStream(c.method, m.stream(), align.Options{Solver: c.solver})
		if err != nil {
			t.Fatal(err)
		}
		if res.Solver != c.used || m.reads[5] != c.reads || m.reads[0] != c.reads+1 {
			t.Errorf("%s %s: solver %s, A_6 was read %d times, want %s, %d", c.method, c.solver, res.Solver, m.reads[5], c.used, c.reads)
		}
	}
}

// TestStreamIllConditioned: when σ_d is 1e-5 σ_1, WWᵀ has lost U_d, and the
// triangular factor has it still: to eps · 1e6 (σ_1 over the gaps), times √a and
// some tens for G_i, whose A_i has the same condition number.
func TestStreamIllConditioned(t *testing.T) {
	a := graded(50, 30, 6, 3)
	m := &memory{a: a}
	if _, err := align.RunStream("ls", m.stream(), align.Options{}); err != nil {
		t.Fatal(err)
	}
	want := run(t, "ls", a, align.Options{Solver: "svd"})
	for i := range a {
		got, w := mul(a[i], m.g[i]), mul(a[i], want.G[i])
		if d := difference(got, w); !(d < 1e-7) {
			t.Errorf("A_%d G_%d differs by %.1e", i+1, i+1, d)
		}
	}
}

func TestStreamDoesNotDependOnWorkers(t *testing.T) {
	for _, method := range align.StreamMethods() {
		var first *memory
		var res *align.Result
		for _, workers := range []int{1, 2, 5} {
			m := &memory{a: common(40, 150, same, 4)}
			r, err := align.RunStream(method, m.stream(), align.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first, res = m, r
				continue
			}
			if !reflect.DeepEqual(r, res) {
				t.Errorf("%s: another result with %d workers", method, workers)
			}
			for i := range m.g {
				if !mat.Equal(m.g[i], first.g[i]) {
					t.Fatalf("%s: another G_%d with %d workers", method, i+1, workers)
				}
			}
		}
	}
}

// TestStreamRankDeficient: the solution of least norm and a warning, as in Run.
func TestStreamRankDeficient(t *testing.T) {
	a := common(40, 12, same, 5)
	for r := range 40 {
		a[9].Set(r, 5, a[9].At(r, 0))
	}
	for _, method := range align.StreamMethods() {
		m := &memory{a: a}
		res, err := align.RunStream(method, m.stream(), align.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := run(t, method, a, align.Options{})
		if res.Ranks[9] != 5 || !reflect.DeepEqual(res.Warnings, want.Warnings) || len(res.Warnings) != 1 {
			t.Errorf("%s: rank %d, warnings %q, in memory %q", method, res.Ranks[9], res.Warnings, want.Warnings)
		}
		if method == "ls" {
			if d := apart(m.g[9], want.G[9]); !(d < 1e-10) {
				t.Errorf("G_10 differs by %.1e", d)
			}
		}
	}
}

func TestStreamErrors(t *testing.T) {
	good := func() *memory { return &memory{a: common(40, 90, same, 6)} }
	nan := common(40, 90, same, 6)
	nan[80].Set(3, 4, math.NaN())
	huge := common(40, 90, same, 6)
	huge[80].Set(3, 4, 1e200)
	small := common(40, 90, same, 6)
	small[80].Scale(1e-160, small[80])
	short := common(40, 90, same, 6)
	short[80] = linalg.Normal(39, 6, source(1))
	wide := common(40, 90, same, 6)
	wide[80] = linalg.Normal(40, 41, source(1))
	empty := common(40, 90, same, 6)
	empty[80] = &mat.Dense{}
	narrow := common(40, 90, same, 6)
	narrow[80] = linalg.Normal(40, 5, source(1))
	for _, c := range []struct {
		name, method string
		a            []*mat.Dense
		opt          align.Options
		want         string
	}{
		{"no party", "ls", nil, align.Options{}, "at least one party"},
		{"method", "gep", good().a, align.Options{}, `method "gep" cannot be streamed, want odc or ls`},
		{"solver", "ls", good().a, align.Options{Solver: "randomized"}, `solver "randomized" of method ls`},
		{"target", "odc", good().a, align.Options{Target: align.Sigma}, `target "sigma" of method odc`},
		{"source", "ls", good().a, align.Options{Target: align.Random}, "needs a source"},
		{"dimension", "ls", good().a, align.Options{Dim: 41}, "dimension 41, want 1 to 40"},
		{"dimension of odc", "odc", good().a, align.Options{Dim: 5}, "dimension 5, want 6"},
		{"unequal columns", "odc", narrow, align.Options{}, "A_81 has 5 columns and A_1 has 6"},
		{"nan", "ls", nan, align.Options{}, "A_81: linalg: element at row 4, column 5"},
		{"overflow", "odc", huge, align.Options{}, "A_81ᵀA_81 overflows"},
		{"underflow", "ls", small, align.Options{}, "A_81 has numbers so small"},
		{"rows", "odc", short, align.Options{}, "A_81 has 39 rows and A_1 has 40"},
		{"wide", "ls", wide, align.Options{}, "A_81 has 41 columns, more than the 40"},
		{"empty", "ls", empty, align.Options{}, "A_81 has no rows"},
	} {
		m := &memory{a: c.a}
		res, err := align.RunStream(c.method, m.stream(), c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || res != nil {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}

	broken := errors.New("broken")
	for _, method := range align.StreamMethods() {
		s := good().stream()
		s.Write = func(i int, _ *mat.Dense) error {
			if i == 70 {
				return broken
			}
			return nil
		}
		if _, err := align.RunStream(method, s, align.Options{}); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the error of Write", method, err)
		}
		s = good().stream()
		read := s.Read
		s.Read = func(i int) (*mat.Dense, error) {
			if i == 70 {
				return nil, broken
			}
			return read(i)
		}
		if _, err := align.RunStream(method, s, align.Options{}); !errors.Is(err, broken) {
			t.Errorf("%s: %v, want the error of Read", method, err)
		}
	}

	// What is read again must be what was read before.
	m := good()
	s := m.stream()
	read := s.Read
	s.Read = func(i int) (*mat.Dense, error) {
		ai, err := read(i)
		m.mu.Lock()
		defer m.mu.Unlock()
		if i == 30 && m.reads[i] == 2 {
			return linalg.Normal(40, 5, source(1)), err
		}
		return ai, err
	}
	if _, err := align.RunStream("ls", s, align.Options{}); err == nil || !strings.Contains(err.Error(), "A_31 has 5 columns and had 6") {
		t.Errorf("a changed A_31: %v", err)
	}
}
