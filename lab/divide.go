package lab

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"concord/lab/split"
)

// divided are rows by purpose.
type divided struct {
	parties    [][]int
	test, pool []int
}

// divide draws the pool, the test rows and the parties' rows. Test rows of one of two
// classes, with which no ranking can be judged, are drawn anew.
func (t *trial) divide() (d divided, err error) {
	rnd := rand.New(t.source("split"))
	const most = 100
	for range most {
		if d, err = t.divideOnce(rnd); err != nil || !t.oneClass(d.test) {
			return d, err
		}
		t.note("in some draws the test rows were of one class, and were drawn anew")
	}
	return d, fmt.Errorf("lab: %d test rows were of one class in %d draws running: take more", t.Test, most)
}

func (t *trial) oneClass(rows []int) bool {
	y := t.data.Y
	if len(y.Classes) != 2 {
		return false
	}
	for _, i := range rows {
		if y.Labels[i] != y.Labels[rows[0]] {
			return false
		}
	}
	return true
}

func (t *trial) divideOnce(rnd *rand.Rand) (divided, error) {
	var d divided
	n, _ := t.data.X.Dims()
	from := make([]int, n)
	for i := range from {
		from[i] = i
	}
	stratified := func(from []int, sizes []int, rnd *rand.Rand) ([][]int, []int, error) {
		return split.Stratified(t.data.Y, from, sizes, rnd)
	}
	if t.Pool > 0 {
		choose := split.Random
		if t.Stratified != "none" {
			choose = stratified
		}
		drawn, _, err := choose(from, []int{t.Pool}, rnd)
		if err != nil {
			return d, fmt.Errorf("the pool: %w", err)
		}
		from = drawn[0]
	}
	d.pool = from
	choose := split.Random
	if t.Stratified == "all" {
		choose = stratified
	}
	if t.PublishedTest {
		if t.data.Test == nil {
			return d, fmt.Errorf("lab: %s has no published test part", t.data.Name)
		}
		tested := map[int]bool{}
		for _, i := range t.data.Test {
			tested[i] = true
		}
		test := slices.DeleteFunc(slices.Clone(from), func(i int) bool { return !tested[i] })
		from = slices.DeleteFunc(slices.Clone(from), func(i int) bool { return tested[i] })
		drawn, _, err := choose(test, []int{t.Test}, rnd)
		if err != nil {
			return d, fmt.Errorf("the test rows: %w", err)
		}
		d.test = drawn[0]
	} else {
		drawn, rest, err := choose(from, []int{t.Test}, rnd)
		if err != nil {
			return d, fmt.Errorf("the test rows: %w", err)
		}
		d.test, from = drawn[0], rest
	}
	sizes := t.Sizes
	if sizes == nil {
		sizes = slices.Repeat([]int{t.Rows}, t.Parties)
	}
	var err error
	switch t.Split {
	case "even":
		d.parties, _, err = choose(from, sizes, rnd)
	case "skewed":
		d.parties, _, err = split.Sorted(t.data.Y, from, sizes, rnd)
	case "dirichlet":
		d.parties, _, err = split.Dirichlet(t.data.Y, from, sizes, t.Alpha, rnd)
	case "classes":
		d.parties, _, err = split.Classes(t.data.Y, from, t.Parties, t.Rows, rnd)
	case "by":
		d.parties, _, err = split.By(t.data.Group, len(t.data.Groups), from, t.Parties, t.Rows, rnd)
	}
	if err != nil {
		return d, fmt.Errorf("the parties' rows: %w", err)
	}
	return d, nil
}

// halve makes zero what a party does not hold: the first half of the parties holds
// one half of the columns, the others the other. Zero is the mean of a standardised
// feature.
func (t *trial) halve() error {
	_, m := t.test.Dims()
	first, second, err := split.Halves(m, rand.New(t.source("halves")))
	if err != nil {
		return err
	}
	for i, p := range t.parties {
		lacking := second
		if i >= (len(t.parties)+1)/2 {
			lacking = first
		}
		blank(p.x, lacking)
		t.lacking = append(t.lacking, lacking)
	}
	return nil
}
