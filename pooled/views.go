package pooled

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
)

// Where parties have different views of the features, every party's vector has the numbers of
// all features, and 0 in those of features that it lacks: each sum is over the parties that
// have it. How many rows these have is summed for each view, first of all; views with the same
// features count as one, since only of all who have them there are enough. Who has which view is in the roster, and [contract.Contract.CheckHoldings] says whether enough have each.

// viewNames are the names of the rows of each view among the statistics.
func viewNames(c *contract.Contract) []string {
	var names []string
	for _, h := range c.Holdings(nil) {
		names = append(names, "rows of "+h.Name())
	}
	return names
}

// viewRows are a party's rows for each view: its own for the one that it has.
func viewRows(c *contract.Contract, rows uint64, f int) []Word {
	var out []Word
	for _, h := range c.Holdings(nil) {
		n := 0.0
		if slices.Contains(h.Views, c.ViewOf()) {
			n = float64(rows)
		}
		out = append(out, wordOf(n, f))
	}
	return out
}

// figureWords is how many numbers a feature has in the stage figures.
func figureWords(f contract.Feature) int {
	n := 1 + len(f.Spellings())
	if f.Ranged() {
		n += 3
	}
	return n
}

// spreadFigures puts a party's figures, those of its own features, where the whole contract
// has them.
func spreadFigures(c *contract.Contract, rows uint64, words []Word, f int) []Word {
	if c.Within == nil {
		return words
	}
	out := append([]Word{words[0]}, viewRows(c, rows, f)...)
	words = words[1:]
	own := c.Features
	for _, feature := range c.Whole().Features {
		n := figureWords(feature)
		if len(own) > 0 && own[0].Name == feature.Name {
			out = append(out, words[:n]...)
			words, own = words[n:], own[1:]
			continue
		}
		out = append(out, make([]Word, n)...)
	}
	return out
}

// spreadMoments puts the triangle of a party's own columns where the whole contract has it.
func spreadMoments(c *contract.Contract, rows int, words []Word, f int) []Word {
	if c.Within == nil {
		return words
	}
	columns, m := c.ViewColumns(), c.Whole().M()
	out := append(viewRows(c, uint64(rows), f), make([]Word, triangle(m))...)
	part := out[len(out)-triangle(m):]
	for a, i := range columns {
		start := i*m - i*(i-1)/2 // of row i, whose first element is (i, i)
		for _, j := range columns[a:] {
			part[start+j-i] = words[0]
			words = words[1:]
		}
	}
	return out
}

// multiplied is what rows become before second moments are made of them, of all columns and
// of this party's: prepared, and where there are views centred too.
func (p *Pool) multiplied(figures *contract.Figures, prepare *contract.Preparation) (all, own *contract.Preparation, err error) {
	if len(p.contract.Views) == 0 {
		return prepare, prepare, nil
	}
	if all, err = p.contract.Centred(figures); err != nil {
		return nil, nil, err
	}
	own, err = p.own.Centred(figures)
	return all, own, err
}

// ownExps are the exponents of this party's columns.
func (p *Pool) ownExps() []int {
	k := p.known()
	if p.own.Within == nil {
		return k.exps
	}
	var out []int
	for _, j := range p.own.ViewColumns() {
		out = append(out, k.exps[j])
	}
	return out
}

// checkMoments refuses second moments that no rows have: a square below 0 or above what
// so many rows can have, a product beyond that of the square roots (Cauchy and Schwarz), and
// where there are views one of columns that nobody has together. views are the summed rows of
// each. It returns how many rows have two columns together; nil without views.
//
// In units of the columns' bounds each site's products are exact to half of 2^−f, and to
// max_rows·2^−53 of the root of the squares for what float64 rounds while adding.
func (p *Pool) checkMoments(s *mat.SymDense, views []Word, f, sites int) (together func(i, j int) int64, err error) {
	c, k := p.contract, p.known()
	own, _ := p.weighted(contract.Stage{Kind: contract.StageMoments})
	most := float64(own) * float64(sites)
	limit := func(int, int) float64 { return most }
	if len(c.Views) > 0 {
		if together, err = p.rowsTogether(views, f, sites); err != nil {
			return nil, err
		}
		limit = func(i, j int) float64 { return float64(together(i, j)) }
	}
	exact := float64(sites) * math.Ldexp(1, -f)
	slack := float64(c.MaxRows) * 0x1p-52
	columns := c.ColumnNames()
	m := len(columns)
	unit := func(i, j int) float64 { return math.Ldexp(s.At(i, j), -k.exps[i]-k.exps[j]) }
	squares := make([]float64, m)
	var impossible []string
	for i := range m {
		squares[i] = unit(i, i)
		if !(squares[i] >= -exact) || squares[i] > limit(i, i)*(1+slack)+exact {
			impossible = append(impossible, columns[i])
		}
		squares[i] = max(0, squares[i]) + exact
	}
	for i := range m {
		for j := range i {
			v := math.Abs(unit(i, j))
			if together != nil && together(i, j) == 0 && v != 0 || v > math.Sqrt(squares[i])*math.Sqrt(squares[j])*(1+slack)*(1+slack)+exact {
				impossible = append(impossible, columns[j]+" × "+columns[i])
			}
		}
	}
	if impossible != nil {
		return nil, impossibleError("second moments", impossible)
	}
	return together, nil
}

// rowsTogether reads the summed rows of each view, and says how many rows have two columns.
func (p *Pool) rowsTogether(views []Word, f, sites int) (func(i, j int) int64, error) {
	c := p.contract
	one := new(big.Int).Lsh(big.NewInt(1), uint(f))
	rows := &contract.Figures{}
	for i, w := range views {
		q, rest := new(big.Int).QuoRem(intOf(w), one, new(big.Int))
		if rest.Sign() != 0 || q.Sign() < 0 || !q.IsInt64() || q.Int64() > int64(c.MaxRows)*int64(sites) {
			return nil, impossibleError("second moments", viewNames(c)[i:i+1])
		}
		rows.Views = append(rows.Views, q.Int64())
	}
	if n := len(c.Holdings(nil)); len(rows.Views) != n {
		return nil, fmt.Errorf("pooled: the rows of %d views with different features, the contract has %d", len(rows.Views), n)
	}
	both, columns := rows.RowsOfBoth(c), c.Columns()
	return func(i, j int) int64 { return both(columns[i].Feature, columns[j].Feature) }, nil
}
