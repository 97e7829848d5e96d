package lab

import (
	"errors"
	"fmt"

	"concord/lab/dataset"
)

// maxAnchors bounds the numbers of an anchor and of all parties' images of it: 4 GiB
// for each trial that runs.
const maxAnchors = 1 << 29

// fits refuses a resolved setting that data are too small for, or that would need more
// memory than anybody has, before anything is drawn.
func (s Setting) fits(data *dataset.Data) error {
	n, m := data.X.Dims()
	var problems []error
	wrong := func(format string, args ...any) { problems = append(problems, fmt.Errorf("lab: "+format, args...)) }
	if m < 2 {
		wrong("%d feature, a collaboration needs at least 2", m)
	}
	if s.Pool > n {
		wrong("the pool is to have %d rows, there are %d", s.Pool, n)
	}
	if !s.PublishedTest { // whose rows divide counts
		s.enoughRows(n, wrong)
	}
	parties := s.Parties
	if parties == 0 { // of by: one for each value of the column
		parties = len(data.Groups)
	}
	for _, c := range s.Cases {
		m, what := m, "features"
		if c.Lift > 0 {
			m, what = c.Lift, "lifted columns"
		}
		l := c.Basis.Dim
		if l > m {
			wrong("dim %d exceeds the %d %s", l, m, what)
			continue
		}
		if l == 0 {
			l = m // at most
		}
		a := c.Anchor
		rows := a.rows(m)
		if spec := a.spec(m); spec.Seeded() {
			spec, err := spec.Resolve(m)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			rows = spec.Rows
		} else if rows == 0 {
			rows = usualRows(m)
		}
		if float64(rows)*(float64(m)+float64(parties)*float64(l)) > maxAnchors {
			wrong("%d anchor rows of %d features, and their images of %d columns from %d parties, are more than %d numbers: take fewer anchor rows", rows, m, l, parties, maxAnchors)
		}
	}
	return errors.Join(problems...)
}

// enoughRows compares what parties and test need with the rows there are.
func (s Setting) enoughRows(n int, wrong func(string, ...any)) {
	if s.Pool > 0 {
		n = min(n, s.Pool)
	}
	if s.Test >= n {
		wrong("test is %d, there are %d rows, and the parties need some", s.Test, n)
		return
	}
	if s.Split == "by" || s.Split == "classes" {
		return // their sizes are what falls to them
	}
	parties := float64(s.Rows) * float64(s.Parties)
	for _, size := range s.Sizes {
		parties += float64(size)
	}
	if parties > float64(n-s.Test) {
		wrong("%d parties need %.0f rows, there are %d beside %d for testing: take fewer rows, parties or test rows", s.Parties, parties, n-s.Test, s.Test)
	}
}
