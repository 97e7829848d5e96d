// Package table reads a site's rows into numbers, as the contract describes
// them, and refuses what does not fit with file, line and column.
//
// Start with [Open], whose result, a [Table], holds the raw rows in the contract's
// order of features; [Table.Standardised] is what a party projects. [Scan] hands the
// rows over one after the other and keeps none.
//
// Raw rows are numbers: of a category the index of its level, of a truth value 0 or 1,
// of a date days or years, and NaN of a missing value where the contract says what to
// do about it (contract.Feature).
//
// The rows are secret. Nothing in this package prints, logs or puts into an
// error the content of a cell: errors say where it is and what is wrong with
// it. Names in a header are not cells and are shown, unless the first line looks
// like a row.
//
// It does not convert units, and guesses nothing: neither the decimal point nor a
// date's layout nor what marks a missing value.
package table

import (
	"crypto/sha256"
	"fmt"
	"log/slog"

	"gonum.org/v1/gonum/mat"

	"concord/contract"
	"concord/secret"
)

// Table holds n rows that fit a contract with p features. It prints only its
// size. A Table does not change, except through Erase.
type Table struct {
	contract *contract.Contract
	x        secret.Matrix
	// target hides behind a function, of which fmt can print nothing (see
	// package secret).
	target func() *target
	lines  []int
	// outside counts, for each feature, the values outside its range.
	outside []int
	// missing counts its missing values.
	missing []int
	digest  [sha256.Size]byte
	file    string
	columns []int // for each feature its column in the file, from 1
	lined   bool  // lines are those of a text
}

// target is the label column, one of the two or neither, and who is who.
type target struct {
	classes []int
	values  []float64
	person  []int // for each row the number of its subject, or nil
}

func newTable(c *contract.Contract, data []float64, y *target, lines, outside []int) *Table {
	x := &mat.Dense{}
	if len(lines) > 0 {
		x = mat.NewDense(len(lines), len(c.Features), data)
	}
	return &Table{
		contract: c,
		x:        secret.NewMatrix(x),
		target:   func() *target { return y },
		lines:    lines,
		outside:  outside,
	}
}

// Rows is n.
func (t *Table) Rows() int { return len(t.lines) }

// X returns the raw rows (n × m), features in the contract's order: the matrix
// itself, not a copy.
func (t *Table) X() secret.Matrix { return t.x }

// Standardised is [Table.Prepared] where the contract pools nothing. It panics where it
// does.
func (t *Table) Standardised() secret.Matrix {
	p, err := t.contract.Preparation(nil)
	if err != nil {
		panic("table: Standardised: " + err.Error())
	}
	return t.Prepared(p)
}

// Prepared returns a new matrix (n × m): the rows with their gaps filled, categories as
// columns of 0 and 1, and every column centred and scaled, in O(n m).
func (t *Table) Prepared(p *contract.Preparation) secret.Matrix {
	n := t.Rows()
	if n == 0 {
		return secret.NewMatrix(&mat.Dense{})
	}
	z := mat.NewDense(n, p.M(), nil)
	for i := range n {
		p.Row(z.RawRowView(i), t.x.Reveal().RawRowView(i))
	}
	return secret.NewMatrix(z)
}

// Labels returns the class of each row as an index into the contract's
// Label.Levels: the slice itself, not a copy. It is nil where the label is a
// number or was not read.
func (t *Table) Labels() []int { return t.target().classes }

// Values returns the label of each row where it is a number: the slice itself,
// not a copy. It is nil where the label is a class or was not read.
func (t *Table) Values() []float64 { return t.target().values }

// ClassCounts returns how many rows each of the contract's levels has, or nil
// where there are no classes.
func (t *Table) ClassCounts() []int {
	labels := t.Labels()
	if labels == nil {
		return nil
	}
	counts := make([]int, len(t.contract.Label.Levels))
	for _, k := range labels {
		counts[k]++
	}
	return counts
}

// People is how many different subjects the rows have, or the number of rows where
// the contract names no subject: a row a person.
func (t *Table) People() int {
	person := t.target().person
	if person == nil {
		return t.Rows()
	}
	seen := make(map[int]bool, len(person))
	for _, who := range person {
		seen[who] = true
	}
	return len(seen)
}

// Persons returns for each row a number that is the same for rows of one subject: the
// slice itself, not a copy. It is nil where the contract names no subject.
func (t *Table) Persons() []int { return t.target().person }

// Constant returns the indices of the features that have one and the same value
// in all rows. A table of one row is constant throughout; one of none is not.
func (t *Table) Constant() []int {
	n, m := t.x.Dims()
	var constant []int
features:
	for j := range m {
		first := t.x.Reveal().At(0, j)
		for i := 1; i < n; i++ {
			if t.x.Reveal().At(i, j) != first {
				continue features
			}
		}
		constant = append(constant, j)
	}
	return constant
}

// ColumnError is an error about a whole feature, with its place in the file.
func (t *Table) ColumnError(feature int, problem, hint string) *CellError {
	return &CellError{File: t.file, Column: t.columns[feature], Name: t.contract.Features[feature].Name, Problem: problem, Hint: hint}
}

// OutOfRange returns, for each feature, how many values lie outside the
// contract's range. All are 0 unless Options.AllowOutOfRange was set.
func (t *Table) OutOfRange() []int { return t.outside }

// Digest is the SHA-256 of the rows that [Options] asked for, or zero.
func (t *Table) Digest() [sha256.Size]byte { return t.digest }

// Missing returns, for each feature, how many values are missing.
func (t *Table) Missing() []int { return t.missing }

// Line is the physical line of the file, from 1, on which row i, from 0, begins, or its
// number from 1 where the source has no lines.
func (t *Table) Line(i int) int { return t.lines[i] }

// Outside says where the values of a feature outside its range stand, the first of them:
// "lines 3, 7", or rows where the source has no lines; "" if there are none.
func (t *Table) Outside(feature int) string {
	lo, hi, ranged := t.contract.Features[feature].Bounds()
	if !ranged || t.outside[feature] == 0 {
		return ""
	}
	word := "row"
	if t.lined {
		word = "line"
	}
	var places []int
	for i := 0; i < t.Rows() && len(places) < mostPlaces; i++ {
		if x := t.x.Reveal().At(i, feature); x < lo || x > hi {
			places = append(places, t.lines[i])
		}
	}
	return Places(word, places, t.outside[feature])
}

// Subset returns a copy of the rows whose indices, from 0, are given, in that
// order; an index may occur more than once. It panics if one is out of range.
func (t *Table) Subset(rows []int) *Table {
	m, y := len(t.contract.Features), t.target()
	data := make([]float64, 0, len(rows)*m)
	lines := make([]int, 0, len(rows))
	outside, missing := make([]int, m), make([]int, m)
	sub := new(target)
	if y.classes != nil {
		sub.classes = make([]int, 0, len(rows))
	}
	if y.values != nil {
		sub.values = make([]float64, 0, len(rows))
	}
	if y.person != nil {
		sub.person = make([]int, 0, len(rows))
	}
	for _, i := range rows {
		if i < 0 || i >= t.Rows() {
			panic(fmt.Sprintf("table: Subset: row %d of a table with %d rows", i, t.Rows()))
		}
		x := t.x.Reveal().RawRowView(i)
		data = append(data, x...)
		lines = append(lines, t.lines[i])
		for j, f := range t.contract.Features {
			if lo, hi, ranged := f.Bounds(); ranged && (x[j] < lo || x[j] > hi) {
				outside[j]++
			}
			if x[j] != x[j] {
				missing[j]++
			}
		}
		if y.classes != nil {
			sub.classes = append(sub.classes, y.classes[i])
		}
		if y.values != nil {
			sub.values = append(sub.values, y.values[i])
		}
		if y.person != nil {
			sub.person = append(sub.person, y.person[i])
		}
	}
	out := newTable(t.contract, data, sub, lines, outside)
	out.file, out.columns, out.missing, out.lined = t.file, t.columns, missing, t.lined
	return out
}

// Erase overwrites rows and labels with zeros. Copies made elsewhere stay.
func (t *Table) Erase() {
	t.x.Erase()
	clear(t.target().classes)
	clear(t.target().values)
	clear(t.target().person)
}

// String says only the shape.
func (t *Table) String() string {
	return fmt.Sprintf("table(%d rows × %d features)", t.Rows(), len(t.contract.Features))
}

// Format prints like String whatever the verb.
func (t *Table) Format(f fmt.State, _ rune) { fmt.Fprint(f, t.String()) }

// LogValue prints like String in structured logs.
func (t *Table) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText refuses with [secret.ErrEncode]. encoding/json uses it too.
func (t *Table) MarshalText() ([]byte, error) { return nil, secret.ErrEncode }

// MarshalBinary refuses with [secret.ErrEncode]. encoding/gob uses it too.
func (t *Table) MarshalBinary() ([]byte, error) { return nil, secret.ErrEncode }
