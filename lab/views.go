package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// checkViews refuses views that are none.
func (s *Setting) checkViews(wrong func(string, ...any)) {
	n := s.Views
	if s.ViewColumns != nil {
		n = len(s.ViewColumns)
		if s.Views != 0 && s.Views != n || s.Shared != 0 {
			wrong("views by their columns, and views %d, shared %d: the first says it all", s.Views, s.Shared)
		}
	}
	switch {
	case n < 0 || n == 1:
		wrong("views is %d, must be 2 or more, or 0 where everybody has all columns", n)
	case s.Shared < 0:
		wrong("shared is %d, must not be negative", s.Shared)
	case n == 0 && (s.Shared > 0 || s.ViewDims != nil):
		wrong("shared columns and dimensions of views belong to views, and there are none")
	case n > 0 && s.Halves:
		wrong("halves and views exclude each other")
	case n > 0 && s.Parties > 0 && s.Parties < n:
		wrong("%d parties cannot hold %d views", s.Parties, n)
	case s.ViewDims != nil && len(s.ViewDims) != n:
		wrong("%d dimensions for %d views", len(s.ViewDims), n)
	}
	for i, l := range s.ViewDims {
		if l < 1 {
			wrong("dimension %d of view %d, must be positive", l, i+1)
		}
	}
}

// viewed says whether parties have views.
func (s *Setting) viewed() bool { return s.Views > 0 || s.ViewColumns != nil }

// deal gives every view its columns, in their order.
func (t *trial) deal(m int) ([][]int, error) {
	if t.ViewColumns != nil {
		out := make([][]int, len(t.ViewColumns))
		for v, names := range t.ViewColumns {
			for _, name := range names {
				j := slices.Index(t.data.Features, name)
				if j < 0 {
					return nil, fmt.Errorf("lab: view %d has the column %q, which the data have not", v+1, name)
				}
				out[v] = append(out[v], j)
			}
			slices.Sort(out[v])
		}
		return out, nil
	}
	features := features(t.data.Features[:m])
	n := len(features)
	if t.Shared > n || n-t.Shared < t.Views && n-t.Shared > 0 {
		return nil, fmt.Errorf("lab: %d features cannot be dealt over %d views with %d in all of them", n, t.Views, t.Shared)
	}
	order := rand.New(t.source("views")).Perm(n)
	out := make([][]int, t.Views)
	for v := range out {
		for _, f := range order[:t.Shared] {
			out[v] = append(out[v], features[f]...)
		}
	}
	for i, f := range order[t.Shared:] {
		out[i%t.Views] = append(out[i%t.Views], features[f]...)
	}
	for _, columns := range out {
		slices.Sort(columns)
	}
	return out, nil
}

// features are the columns of each feature: of a category those of its levels, whose
// names are the category's up to an equals sign.
func features(names []string) [][]int {
	var out [][]int
	at := map[string]int{}
	for j, name := range names {
		feature, _, levels := strings.Cut(name, "=")
		if k, ok := at[feature]; ok && levels {
			out[k] = append(out[k], j)
			continue
		}
		at[feature] = len(out)
		out = append(out, []int{j})
	}
	return out
}

// hide makes zero what a party's view lacks.
func (t *trial) hide() error {
	_, m := t.test.Dims()
	views, err := t.deal(m)
	if err != nil {
		return err
	}
	for _, p := range t.parties {
		t.whole = append(t.whole, mat.DenseCopyOf(p.x))
	}
	for i, p := range t.parties {
		has := make([]bool, m)
		for _, j := range views[i%len(views)] {
			has[j] = true
		}
		var lacking []int
		for j := range m {
			if !has[j] {
				lacking = append(lacking, j)
			}
		}
		blank(p.x, lacking)
		t.lacking = append(t.lacking, lacking)
	}
	return nil
}

// blank makes columns zero.
func blank(x *mat.Dense, columns []int) {
	n, _ := x.Dims()
	for r := range n {
		row := x.RawRowView(r)
		for _, j := range columns {
			row[j] = 0
		}
	}
}

// held are the columns of x that a party's view has.
func (t *trial) held(party int, x *mat.Dense) *mat.Dense {
	if !t.viewed() {
		return x
	}
	n, m := x.Dims()
	out := mat.NewDense(n, t.columns(party), nil)
	for k, j := range t.has(party, m) {
		for i := range n {
			out.Set(i, k, x.At(i, j))
		}
	}
	return out
}

// embedded is a basis over the columns of a party's view as one over all: zero in the
// rows of the others.
func (t *trial) embedded(party int, v *mat.Dense) *mat.Dense {
	if !t.viewed() {
		return v
	}
	_, m := t.test.Dims()
	_, l := v.Dims()
	out := mat.NewDense(m, l, nil)
	for k, j := range t.has(party, m) {
		out.SetRow(j, v.RawRowView(k))
	}
	return out
}

// has lists the columns of a party's view.
func (t *trial) has(party, m int) []int {
	var out []int
	for j := range m {
		if !slices.Contains(t.lacking[party], j) {
			out = append(out, j)
		}
	}
	return out
}

// columns is how many a party has.
func (t *trial) columns(party int) int {
	_, m := t.test.Dims()
	if t.lacking == nil {
		return m
	}
	return m - len(t.lacking[party])
}

// seen are test rows as a party sees them: zero in the columns that it lacks.
func (t *trial) seen(party int, rows *mat.Dense) *mat.Dense {
	if t.lacking == nil {
		return rows
	}
	out := mat.DenseCopyOf(rows)
	blank(out, t.lacking[party])
	return out
}
