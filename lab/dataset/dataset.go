// Package dataset reads the laboratory's data: tables that nobody prepared, and
// the published sets that the papers on Data Collaboration report on.
//
// Start with [Load] for a published set, with [Open] for a file of one's own;
// both give a [Data], whose rows are read with [Data.Take]. [Published] lists
// the sets and what stands in for those that are not to be had; [Fetch] gets
// from their homes those that have one.
//
// The laboratory sees everything at once, which nobody in a study may: no
// party's or analyst's program imports this package. It does not standardise,
// split or sample, and fills in missing numbers only where a published
// experiment did so beforehand.
package dataset

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"concord/learn"
)

// Data is a table of n rows in memory, coded as numbers.
type Data struct {
	// Name is the published set's name, or the file's.
	Name string
	// Features are the names of the m columns of X, after coding.
	Features []string
	// X is n × m.
	X Rows
	// Y is what is to be learned: Labels and Classes, or Values (n × 1).
	Y learn.Target
	// Positive is the index in Y.Classes of the class to find, where there are
	// two; otherwise -1.
	Positive int
	// Group tells for each of the n rows whose it is (the mouse, the hospital,
	// the level of the column that was asked for), as an index into Groups; nil
	// where rows belong to nobody.
	Group  []int
	Groups []string
	// Test lists the rows of the published test split; nil if there is none.
	Test []int
	// Width and Height are the pixels of an image, whose rows follow one
	// another in X; 0 for other data.
	Width, Height int
	// Notes say what was done to the data, in sentences for reports.
	Notes []string
	// StandIn says what these data stand in for and why; "" for the data
	// themselves.
	StandIn string
}

// Take copies rows, in the order and as often as they are named: x is
// len(rows) × m with NaN for a missing number, y has the same rows and all of
// the classes. It panics if rows is empty or an index is not below n.
func (d *Data) Take(rows []int) (x *mat.Dense, y learn.Target) {
	x = d.X.Take(rows)
	if !d.Y.Classification() {
		_, q := d.Y.Values.Dims()
		y.Values = mat.NewDense(len(rows), q, nil)
		for i, r := range rows {
			y.Values.SetRow(i, d.Y.Values.RawRowView(r))
		}
		return x, y
	}
	y.Classes = d.Y.Classes
	y.Labels = make([]int, len(rows))
	for i, r := range rows {
		y.Labels[i] = d.Y.Labels[r]
	}
	return x, y
}

// check wants the parts of d to fit each other; a mistake is this package's own.
func (d *Data) check() {
	n, m := d.X.Dims()
	switch {
	case len(d.Features) != m:
		panic(fmt.Sprintf("dataset: %s: %d names for %d columns", d.Name, len(d.Features), m))
	case d.Y.Classification() && len(d.Y.Labels) != n:
		panic(fmt.Sprintf("dataset: %s: %d labels for %d rows", d.Name, len(d.Y.Labels), n))
	case d.Group != nil && len(d.Group) != n:
		panic(fmt.Sprintf("dataset: %s: %d groups for %d rows", d.Name, len(d.Group), n))
	}
	if !d.Y.Classification() {
		if rows, _ := d.Y.Values.Dims(); rows != n {
			panic(fmt.Sprintf("dataset: %s: %d values for %d rows", d.Name, rows, n))
		}
	}
}
