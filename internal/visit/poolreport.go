package visit

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"concord/contract"
	"concord/internal/site"
	"concord/masked"
	"concord/party"
	"concord/pooled"
	"concord/table"
	"concord/wire"
)

// PoolReport is what this site finds of its own rows before they are summed. It stays.
type PoolReport struct {
	Stage string `json:"stage"`
	Rows  int    `json:"rows"`
	// People are the rows where the contract names no subject.
	People   int           `json:"people"`
	Features []PoolFeature `json:"features"`
}

// PoolFeature is one feature at this site.
type PoolFeature struct {
	Name    string `json:"name"`
	Rows    int    `json:"rows"`
	Missing int    `json:"missing"`
	// Mean and Deviation (over Rows) are those of numbers and dates, Levels the rows of
	// each level of other features.
	Mean      float64  `json:"mean"`
	Deviation float64  `json:"deviation"`
	Levels    []int    `json:"levels,omitempty"`
	Names     []string `json:"names,omitempty"`
}

// keeps compares the report with floors: rows, people, and the rows that have a feature.
// A feature that no row has, because this site's file has no such column, adds nothing.
func (r PoolReport) keeps(f party.Floors) error {
	var low []string
	below := func(floor party.Floor, n int, what string) {
		if n < floor.Least {
			low = append(low, fmt.Sprintf("%s: %d, the floor %s is %d", what, n, floor.By, floor.Least))
		}
	}
	below(f.Rows, r.Rows, "rows")
	below(f.People, r.People, "people")
	for _, g := range r.Features {
		if g.Rows > 0 && r.Rows >= f.Rows.Least && len(low) < 8 {
			below(f.Rows, g.Rows, fmt.Sprintf("rows that have %q", g.Name))
		}
	}
	if low == nil {
		return nil
	}
	return wire.WithHint(fmt.Errorf("below a floor: %s", strings.Join(low, "; ")),
		"nothing can be summed of so few; a feature that hardly any row has is better left out of the study")
}

// scanned goes over the rows of a file for a stage: the vector, and on the way the report.
func (v *Visit) scanned(path string, pool *pooled.Pool, stage contract.Stage, opt table.Options,
	from Source) (masked.Vector, PoolReport, error) {
	report := PoolReport{Stage: stage.String()}
	for _, f := range v.Contract.Features {
		g := PoolFeature{Name: f.Name, Names: f.Spellings()}
		if len(g.Names) > 0 {
			g.Levels = make([]int, len(g.Names))
		}
		report.Features = append(report.Features, g)
	}
	squares := make([]float64, len(report.Features))
	opt.Digest = from.database()
	vector, err := pool.Local(stage, func(visit func([]float64) error) error {
		summary, err := table.Scan(path, v.Contract, opt, func(row *table.Row) error {
			for j, x := range row.X {
				g := &report.Features[j]
				switch {
				case math.IsNaN(x):
					g.Missing++
					continue
				case g.Levels != nil && int(x) >= 0 && int(x) < len(g.Levels):
					g.Levels[int(x)]++
				}
				g.Rows++
				d := x - g.Mean
				g.Mean += d / float64(g.Rows)
				squares[j] += d * (x - g.Mean)
			}
			return visit(row.X)
		})
		if err != nil {
			return pointToCheck(err, path)
		}
		report.Rows, report.People = summary.Rows, summary.People
		return from.sameRows(summary.Digest)
	})
	for j := range report.Features {
		if g := &report.Features[j]; g.Rows > 0 {
			g.Deviation = math.Sqrt(squares[j] / float64(g.Rows))
		}
	}
	return vector, report, err
}

// ownReady is the name of the draft of this site's newest ready message of a stage; ""
// if there is none.
func (v *Visit) ownReady(stage int) string {
	name := ""
	for number := 1; number < firstForward; number++ {
		at := site.PoolName(stage, number)
		if !v.site.HasDraft(at) {
			break
		}
		if m, err := v.loadManifest(at); err == nil && mustApprove(m) {
			name = at
		}
	}
	return name
}

// readyApproved reports whether whoever approves here has said yes to a ready message.
func (v *Visit) readyApproved(name string) (bool, error) {
	if !v.site.HasDraft(name, "leaves", approvalFile) {
		return false, nil
	}
	m, err := v.loadManifest(name)
	if err != nil {
		return false, err
	}
	if _, err := v.loadApproval(name, m); err != nil {
		return false, err
	}
	return true, nil
}

var errNotPooled = errors.New("the figures that all parties prepare by are not pooled yet")
