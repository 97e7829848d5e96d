package neural

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

type steps struct {
	Name, Output       string
	Hidden             []int
	Outputs, Batch     int
	Alpha, Rate        float64
	X, Y               [][]float64
	Labels             []int
	Start, End, Losses []float64
}

func general(rows [][]float64) blas64.General {
	if len(rows) == 0 {
		return blas64.General{}
	}
	m := newMatrix(len(rows), len(rows[0]))
	for i, r := range rows {
		copy(row(m, i), r)
	}
	return m
}

// TestSteps takes the steps of testdata/steps.json, minibatches in order.
func TestSteps(t *testing.T) {
	data, err := os.ReadFile("testdata/steps.json")
	if err != nil {
		t.Fatal(err)
	}
	var known struct{ Cases []steps }
	if err := json.Unmarshal(data, &known); err != nil {
		t.Fatal(err)
	}
	if len(known.Cases) != 5 {
		t.Fatalf("%d cases, want 5", len(known.Cases))
	}
	outputs := map[string]Output{"squares": Squares, "logistic": Logistic, "softmax": Softmax}
	for _, c := range known.Cases {
		// More parts than the last minibatch has rows leave some without any.
		for _, parts := range []int{1, 2, 5} {
			x := general(c.X)
			sizes := slices.Concat([]int{x.Cols}, c.Hidden, []int{c.Outputs})
			net := newNetwork(sizes, outputs[c.Output], rand.New(rand.NewPCG(1, 1)))
			if len(c.Start) != len(net.params) {
				t.Fatalf("%s: %d parameters, want %d", c.Name, len(c.Start), len(net.params))
			}
			copy(net.params, c.Start)
			team := newTeam(parts)
			defer team.dismiss()
			tr := &trainer{
				team:   team,
				Config: Config{Output: net.Output, Outputs: c.Outputs, Alpha: c.Alpha}, net: net,
				x: x, y: Target{Labels: c.Labels, Values: general(c.Y)}, adam: newAdam(net, c.Rate),
			}
			for range parts {
				tr.passes = append(tr.passes, newPass(sizes, c.Batch))
			}
			rows := make([]int, x.Rows)
			for i := range rows {
				rows[i] = i
			}
			for epoch, want := range c.Losses {
				var sum float64
				for at := 0; at < len(rows); at += c.Batch {
					batch := rows[at:min(len(rows), at+c.Batch)]
					sum += tr.minibatch(batch) * float64(len(batch))
				}
				// Sums of some tens of terms, in another order.
				if got := sum / float64(len(rows)); math.Abs(got-want) > 1e-12*want {
					t.Errorf("%s, %d parts: loss of epoch %d is %.15g, want %.15g", c.Name, parts, epoch+1, got, want)
				}
			}
			for i, want := range c.End {
				// A step moves a parameter by rate·m/√v, and where a gradient is a
				// difference of nearly equal terms its rounding is felt in full:
				// 1e-16 against 1e-4 of the others.
				if got := net.params[i]; math.Abs(got-want) > 1e-11 {
					t.Errorf("%s, %d parts: parameter %d is %.15g, want %.15g", c.Name, parts, i, got, want)
				}
			}
		}
	}
}

// TestGradient compares the sums of a pass with differences of the loss.
func TestGradient(t *testing.T) {
	for _, c := range []struct {
		output  Output
		outputs int
		hidden  []int
	}{{Squares, 3, []int{4}}, {Squares, 1, []int{5, 4, 3}}, {Logistic, 1, []int{6}}, {Logistic, 1, []int{3, 3}}, {Softmax, 4, []int{5}}, {Softmax, 3, []int{4, 6}}} {
		rnd := rand.New(rand.NewPCG(uint64(c.outputs), uint64(len(c.hidden))))
		// More rows than a block, so that blocks are added up.
		n, d := blockRows+30, 3
		x, y := newMatrix(n, d), Target{Values: newMatrix(n, c.outputs)}
		rows := make([]int, n)
		for i := range n {
			rows[i] = n - 1 - i
			y.Labels = append(y.Labels, rnd.IntN(max(2, c.outputs)))
			for j := range row(x, i) {
				row(x, i)[j] = rnd.NormFloat64()
			}
			for j := range row(y.Values, i) {
				row(y.Values, i)[j] = rnd.NormFloat64()
			}
		}
		sizes := slices.Concat([]int{d}, c.hidden, []int{c.outputs})
		net := newNetwork(sizes, c.output, rnd)
		p := newPass(sizes, n)
		p.run(net, x, y, rows)
		gradient := slices.Clone(p.grad)
		for i, at := range net.params {
			const h = 1e-6
			net.params[i] = at + h
			p.run(net, x, y, rows)
			above := p.loss
			net.params[i] = at - h
			p.run(net, x, y, rows)
			net.params[i] = at
			// Losses of some 200 are rounded to 1e-13, over 2h; a rectifier that
			// switches within h of the point adds h times its slope.
			if got, want := gradient[i], (above-p.loss)/(2*h); math.Abs(got-want) > 1e-5*max(1, math.Abs(want)) {
				t.Errorf("%v: derivative %d is %.9g, differences give %.9g", sizes, i, got, want)
			}
		}
	}
}

// TestLossTails checks that large z give finite losses, each −log p.
func TestLossTails(t *testing.T) {
	for _, c := range []struct {
		output      Output
		z           []float64
		label       int
		loss, slope float64
	}{
		{Logistic, []float64{800}, 0, 800, 1}, {Logistic, []float64{800}, 1, 0, 0},
		{Logistic, []float64{-800}, 1, 800, -1}, {Logistic, []float64{-800}, 0, 0, 0},
		{Logistic, []float64{0}, 1, math.Ln2, -.5},
		{Softmax, []float64{-1000, 0, 1000}, 0, 2000, -1}, {Softmax, []float64{-1000, 0, 1000}, 2, 0, 0},
	} {
		if loss := c.output.derive(c.z, Target{Labels: []int{c.label}}, 0); loss != c.loss || c.z[min(c.label, len(c.z)-1)] != c.slope {
			t.Errorf("%+v: loss %g", c, loss)
		}
	}
}

// TestSplit checks that every row is in one of the lists and the classes have
// their shares.
func TestSplit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	labels := slices.Concat(slices.Repeat([]int{0}, 61), slices.Repeat([]int{1}, 30), slices.Repeat([]int{3}, 8), []int{4})
	learn, judge := split(100, labels, 10, rnd)
	all := slices.Concat(learn, judge)
	slices.Sort(all)
	count := make([]int, 5)
	for _, i := range judge {
		count[labels[i]]++
	}
	// 6.1, 3, 0, 0.8 and 0.1 rows: the remainder goes to the largest.
	if !slices.Equal(count, []int{6, 3, 0, 1, 0}) || len(all) != 100 || len(slices.Compact(all)) != 100 {
		t.Errorf("%d and %d rows, of the classes %v", len(learn), len(judge), count)
	}
	if learn, judge = split(4, []int{0, 1, 2, 2}, 3, rnd); len(learn) != 3 || len(judge) != 1 || judge[0] < 2 {
		t.Errorf("of classes with 1, 1 and 2 rows, rows %v are held out, want one of the last two", judge)
	}
	if learn, judge = split(7, nil, 3, rnd); len(learn) != 4 || len(judge) != 3 {
		t.Errorf("%d rows of 7 held out, want 3", len(judge))
	}
	if learn, judge = split(7, nil, 0, rnd); len(learn) != 7 || judge != nil {
		t.Errorf("%v held out, want none", judge)
	}
}
