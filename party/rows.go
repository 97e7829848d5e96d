package party

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/linalg"
	"concord/privacy"
	"concord/secret"
	"concord/table"
)

// siteRows are a site's rows, prepared and lifted once, in one order with their labels.
type siteRows struct {
	rows   secret.Matrix // prepared (n × m)
	high   secret.Matrix // what the basis sees: lifted (n × D), or the same matrix
	labels []int64
	values *mat.Dense
	people []int // whose each row is, or nil for a row a person
}

// prepared are the rows of t in its order. up is nil for no lift.
func prepared(t *table.Table, prep *contract.Preparation, up *basis.Lift) siteRows {
	x := siteRows{rows: t.Prepared(prep), people: slices.Clone(t.Persons())}
	x.high = x.rows
	if up != nil {
		x.high = up.Apply(x.rows)
	}
	for _, k := range t.Labels() {
		x.labels = append(x.labels, int64(k))
	}
	if values := t.Values(); values != nil {
		x.values = mat.NewDense(len(values), 1, slices.Clone(values))
	}
	return x
}

// all lists the rows.
func (x siteRows) all() []int {
	n, _ := x.rows.Dims()
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// far lists the rows of which the basis leaves out eps of their length or more ([nosaka2024mm], section 2.3,
// down-sampling).
func (x siteRows) far(f *basis.Basis, eps float64) ([]int, error) {
	if eps == 0 {
		return x.all(), nil
	}
	dr, err := privacy.DR(x.high.Reveal(), f.Matrix().Reveal())
	if err != nil {
		return nil, err
	}
	near := privacy.Below(dr, eps)
	return slices.DeleteFunc(x.all(), func(i int) bool {
		_, drop := slices.BinarySearch(near, i)
		return drop
	}), nil
}

// shuffle keeps the named rows only, in a random order; what was there before is erased.
func (x *siteRows) shuffle(kept []int, rnd *rand.Rand) {
	old := *x
	order := make([]int, len(kept))
	for to, from := range rnd.Perm(len(kept)) {
		order[to] = kept[from]
	}
	*x = siteRows{rows: secret.NewMatrix(linalg.TakeRows(old.rows.Reveal(), order)), labels: pick(old.labels, order), people: pick(old.people, order)}
	x.high = x.rows
	if old.high.Reveal() != old.rows.Reveal() {
		x.high = secret.NewMatrix(linalg.TakeRows(old.high.Reveal(), order))
	}
	if old.values != nil {
		x.values = mat.NewDense(len(order), 1, pick(old.values.RawMatrix().Data, order))
		old.values.Zero()
	}
	old.erase()
	clear(old.labels)
	clear(old.people)
}

// erase overwrites the rows, not the labels: those leave.
func (x siteRows) erase() {
	x.rows.Erase()
	x.high.Erase()
}

// pick are the named elements of v; nil stays nil.
func pick[T any](v []T, order []int) []T {
	if v == nil {
		return nil
	}
	out := make([]T, len(order))
	for to, from := range order {
		out[to] = v[from]
	}
	return out
}
