package profile

import (
	"math"

	"concord/contract"
	"concord/table"
)

// mostLines is how many lines are told of each fault of a feature.
const mostLines = 5

// Collector counts rows. The zero value is not usable; see [NewCollector].
type Collector struct {
	contract *contract.Contract
	features []collected
	label    collected
	rows     int
	summary  *table.Summary // of the scan, once it is done
	people   []uint32       // for each subject's number how many rows
	noPerson int            // rows without one
	equal    *tally         // of rows, by features and label

	// Rows wait here until there are enough of them to be counted column by column.
	x      []float64
	hashes [waiting]uint64
	wait   int
}

// collected is what is known of one column: of a feature, or of the label.
type collected struct {
	moments Moments
	levels  []int64 // nil for numbers
	faults  [table.Faults]int64
	lines   [table.Faults][]int
}

// waiting is how many rows are counted together: with fifty columns they fill a
// second-level cache.
const waiting = 256

// NewCollector counts rows of a contract.
func NewCollector(c *contract.Contract) *Collector {
	p := &Collector{contract: c, features: make([]collected, len(c.Features)), equal: newTally(tallyMost)}
	p.x = make([]float64, waiting*len(c.Features))
	for j, f := range c.Features {
		if n := len(f.Spellings()); n > 0 {
			p.features[j].levels = make([]int64, n)
		}
	}
	if n := len(c.Label.Levels); n > 0 {
		p.label.levels = make([]int64, n)
	}
	return p
}

// Add takes a row of [table.Scan]; it keeps nothing of it but hashes and what counts
// together with others. It never fails. Cost: O(p), about 15 ns for each feature.
func (c *Collector) Add(r *table.Row) error {
	p := len(c.features)
	copy(c.x[c.wait*p:], r.X)
	c.hashes[c.wait] = hashNumbers(uint64(r.Class)+floatBits(r.Value), r.X)
	c.wait++
	c.rows++
	switch {
	case r.Class >= 0:
		c.label.levels[r.Class]++
	case r.Value == r.Value:
		c.label.moments.Add(r.Value)
	}
	if r.Subject >= 0 {
		for len(c.people) <= r.Subject {
			c.people = append(c.people, 0)
		}
		c.people[r.Subject]++
	}
	for j, fault := range r.Faults {
		if fault == table.None {
			continue
		}
		switch {
		case j < p:
			c.features[j].fault(fault, r.Line)
		case j == p:
			c.label.fault(fault, r.Line)
		default:
			c.noPerson++
		}
	}
	if c.wait == waiting {
		c.flush()
	}
	return nil
}

func (c *collected) fault(fault table.Fault, line int) {
	c.faults[fault]++
	if len(c.lines[fault]) < mostLines {
		c.lines[fault] = append(c.lines[fault], line)
	}
}

// flush counts the rows that wait.
func (c *Collector) flush() {
	p := len(c.features)
	x := c.x[:c.wait*p]
	c.equal.addAll(c.hashes[:c.wait])
	c.wait = 0
	if len(x) == 0 {
		return
	}
	for j := range c.features {
		f := &c.features[j]
		if f.levels == nil {
			f.moments.addColumn(x[j:], p)
			continue
		}
		for i := j; i < len(x); i += p {
			if v := x[i]; v == v {
				f.levels[int(v)]++
			}
		}
	}
}

// Merge adds what o has counted. Subjects count as the same where their numbers are, so
// that both must come of one scan, or have none. The lines are those of c first. Merging
// is associative up to what [Moments.Merge] says.
func (c *Collector) Merge(o *Collector) {
	c.flush()
	o.flush()
	for j := range c.features {
		c.features[j].merge(&o.features[j])
	}
	c.label.merge(&o.label)
	c.rows += o.rows
	c.noPerson += o.noPerson
	for len(c.people) < len(o.people) {
		c.people = append(c.people, 0)
	}
	for who, n := range o.people {
		c.people[who] += n
	}
	c.equal.merge(o.equal)
}

func (c *collected) merge(o *collected) {
	c.moments.Merge(o.moments)
	for k, n := range o.levels {
		c.levels[k] += n
	}
	for fault, n := range o.faults {
		c.faults[fault] += n
		lines := append(c.lines[fault], o.lines[fault]...)
		c.lines[fault] = lines[:min(len(lines), mostLines)]
	}
}

// count is how many cells have a value, those outside the range among them.
func (c *collected) count() int64 {
	n := c.moments.N()
	for _, k := range c.levels {
		n += k
	}
	return n
}

// constant reports whether all values are equal, and there is one.
func (c *collected) constant() bool {
	if c.levels == nil {
		return c.moments.Constant()
	}
	used := 0
	for _, n := range c.levels {
		if n > 0 {
			used++
		}
	}
	return used == 1
}

// side is what a column of numbers is compared by.
func (c *collected) side() Side {
	s := Side{N: float64(c.moments.N())}
	if s.N > 0 {
		s.Mean = c.moments.Mean()
	}
	if s.N > 1 {
		s.Variance = c.moments.Variance()
	}
	return s
}

// number is a float for JSON: nil for NaN.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
