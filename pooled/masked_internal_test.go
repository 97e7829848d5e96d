package pooled

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/identity"
	"concord/masked"
	"concord/wire"
)

// identities are made once: keys take time.
var identities = sync.OnceValue(func() []*identity.Identity {
	var out []*identity.Identity
	for i := range 9 {
		id, err := identity.New(identity.RoleParty, fmt.Sprintf("Hospital %d", i+1), nil)
		if err != nil {
			panic(err)
		}
		out = append(out, id)
	}
	return out
})

type failer interface {
	Helper()
	Fatal(...any)
}

// sumMasked runs one round of masked sums of the parties' vectors by its real messages and
// returns each party's sums. holders are those of parts of the statistics, where not all have all.
func sumMasked(t failer, stage int, statistics masked.Statistics, vectors []masked.Vector, holders ...masked.Holders) []masked.Sums {
	t.Helper()
	ids := identities()[:len(vectors)]
	config := masked.Config{Study: wire.HashOf([]byte("study")), Epoch: wire.HashOf([]byte("epoch")), Stage: stage, Colluders: 1, Statistics: statistics, Holders: holders}
	for _, id := range ids {
		config.Parties = append(config.Parties, id.Statement)
	}
	words := map[wire.Hash][]byte{}
	open := func(h wire.Hash) (io.ReadCloser, error) {
		if b, ok := words[h]; ok {
			return io.NopCloser(bytes.NewReader(b)), nil
		}
		return nil, errors.New("no such words")
	}
	rounds := make([]*masked.Round, len(ids))
	deliver := func() {
		for _, from := range rounds {
			for _, m := range from.Outbox() {
				for _, to := range rounds {
					if to == from {
						continue
					}
					var body io.Reader
					if m.Body != nil {
						body = bytes.NewReader(words[*m.Body])
					}
					if err := to.Take(m.Head, body); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	for i, id := range ids {
		r, err := masked.New(config, id)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if err := r.Ready(vectors[i], &body); err != nil {
			t.Fatal(err)
		}
		words[wire.HashOf(body.Bytes())] = body.Bytes()
		rounds[i] = r
	}
	deliver()
	for _, r := range rounds {
		if err := r.Reveal(); err != nil {
			t.Fatal(err)
		}
	}
	deliver()
	out := make([]masked.Sums, len(rounds))
	for i, r := range rounds {
		sums, err := r.Sums(open)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = sums
	}
	return out
}

// playMasked is play through masked sums.
func playMasked(t failer, c *contract.Contract, parts []*mat.Dense) []*Pool {
	t.Helper()
	pools := begun(t, c, len(parts))
	var rows []Rows
	for _, x := range parts {
		rows = append(rows, MatrixRows(x))
	}
	playStages(t, c, pools, rows)
	takeDirections(t, c, pools)
	return pools
}

// playStages takes pools through all stages by masked sums of the parties' rows. holders are
// those of parts of the statistics, where not all have all.
func playStages(t failer, c *contract.Contract, pools []*Pool, rows []Rows, holders ...masked.Holders) {
	t.Helper()
	for number, stage := range pools[0].Stages() {
		var statistics masked.Statistics
		var vectors []masked.Vector
		for i, p := range pools {
			s, err := p.Statistics(stage)
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && s.Hash() != statistics.Hash() {
				t.Fatal("two parties sum different statistics")
			}
			if int64(s.N) != c.StageNumbers(stage) {
				t.Fatal(s.N, " numbers are summed, the contract says ", c.StageNumbers(stage))
			}
			statistics = s
			v, err := p.Local(stage, rows[i])
			if err != nil {
				t.Fatal(err)
			}
			vectors = append(vectors, v)
		}
		for i, sums := range sumMasked(t, number+1, statistics, vectors, holders...) {
			if err := pools[i].Take(stage, sums); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestMasked holds that what comes through masked sums is what is summed in the clear, to
// the last bit, for all moments and for a sketch, and that means and variances of nasty
// rows are the stacked rows' to 1e-9: columns far from the middle of their range with a
// deviation of a hundred millionth of it, long tails, many gaps, parties of 10 and of 400.
func TestMasked(t *testing.T) {
	features := []string{"{name: plain, range: [0, 1]}", "{name: far, range: [0, 1.0e+9]}", "{name: tail, range: [0, 1.0e+6], missing: mean}", "{name: tiny, range: [-1.0e-12, 1.0e-12]}"}
	rnd := rand.New(source(11))
	var parts []*mat.Dense
	for _, n := range []int{10, 57, 400, 23} {
		x := mat.NewDense(n, 4, nil)
		for i := range n {
			tail := min(math.Exp(4*rnd.NormFloat64()), 1e6)
			if rnd.Float64() < 0.8 {
				tail = math.NaN()
			}
			x.SetRow(i, []float64{rnd.Float64(), 999_999_000 + 10*rnd.Float64(), tail, 1e-12 * (2*rnd.Float64() - 1)})
		}
		parts = append(parts, x)
	}
	for _, pooling := range []string{"", "pooling: {sketch: 3, power: 1}\n", "pooling: {weights: equal}\n"} {
		c := contractOf(t, "basis: {kind: common, dim: 2}\n"+pooling, features...)
		clear, through := play(t, c, parts), playMasked(t, c, parts)
		var open []Rows
		for _, x := range parts {
			open = append(open, MatrixRows(x))
		}
		lab, err := InClear(c, seedOf(t, 9), open)
		if err != nil {
			t.Fatal(err)
		}
		clear = append(clear, lab)
		for i, p := range append(through, through[0]) {
			a, _ := p.Figures().Hash()
			b, _ := clear[i].Figures().Hash()
			if a != b || !mat.Equal(p.V().Reveal(), clear[i].V().Reveal()) {
				t.Fatal("masked sums give other figures or directions")
			}
		}
		for j, g := range through[0].Figures().Features {
			mean, variance, n := exactMoments(parts, j)
			if int(g.Count) != n || math.Abs(g.Mean-mean) > 1e-9*math.Abs(mean) || math.Abs(g.Variance-variance) > 1e-9*variance {
				t.Errorf("%s: %d values, the mean is off by %.2g, the variance by %.2g", c.Features[j].Name, g.Count, (g.Mean-mean)/mean, (g.Variance-variance)/variance)
			}
		}
	}
}
