package concord

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"concord/bundle"
	"concord/contract"
	"concord/internal/site"
	"concord/masked"
	"concord/party"
	"concord/pooled"
	"concord/table"
	"concord/wire"
)

// poolReport is what this site finds of its own rows before they are summed. It stays.
type poolReport struct {
	Stage string `json:"stage"`
	Rows  int    `json:"rows"`
	// People are the rows where the contract names no subject.
	People   int           `json:"people"`
	Features []poolFeature `json:"features"`
}

// poolFeature is one feature at this site.
type poolFeature struct {
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
func (r poolReport) keeps(f party.Floors) error {
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
	return wire.WithHint(fmt.Errorf("below a floor: %s", strings.Join(low, "; ")), "nothing can be summed of so few; a feature that hardly any row has is better left out of the study")
}

// scanned goes over the rows of a file for a stage: the vector, and on the way the report.
func (v *visit) scanned(path string, pool *pooled.Pool, stage contract.Stage, opt table.Options, from source) (masked.Vector, poolReport, error) {
	report := poolReport{Stage: stage.String()}
	for _, f := range v.contract.Features {
		g := poolFeature{Name: f.Name, Names: f.Spellings()}
		if len(g.Names) > 0 {
			g.Levels = make([]int, len(g.Names))
		}
		report.Features = append(report.Features, g)
	}
	squares := make([]float64, len(report.Features))
	opt.Digest = from.database()
	vector, err := pool.Local(stage, func(visit func([]float64) error) error {
		summary, err := table.Scan(path, v.contract, opt, func(row *table.Row) error {
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

// writeReport writes it beside the draft of a message.
func (r poolReport) write(dir string) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, reportFile), append(b, '\n'), draftPerm)
}

// poolReportOf is what was found for the message of a name. Whoever calls it has called
// checkPrepared.
func (v *visit) poolReportOf(name string) (poolReport, error) {
	return readReport[poolReport](v, name)
}

// stillPools is what must hold when a ready message is approved or sealed: prepare made
// it, its rows are as they were, and it keeps the floors of now.
func (v *visit) stillPools(name string, m *bundle.Manifest) error {
	if err := v.checkPrepared(name, m); err != nil {
		return err
	}
	if err := v.sourceUnchanged(name); err != nil {
		return err
	}
	floors, err := v.floors()
	if err != nil {
		return err
	}
	r, err := v.poolReportOf(name)
	if err != nil {
		return err
	}
	return r.keeps(floors)
}

// printPool shows what a ready message sums, and what that means.
func (p *program) printPool(v *visit, m *bundle.Manifest, r poolReport, all bool) error {
	stages := v.whole.Stages()
	stage := stages[m.Round-1]
	p.printf("stage %d of %d, %s: what is summed over all parties\n", m.Round, len(stages), stage)
	p.printf("%s\n", wrapped("- "+v.summedInWords(stage), 2, 100))
	p.printPoolView(v)
	people := ""
	if v.whole.Subject != "" {
		people = fmt.Sprintf(" of %d people (column %s)", r.People, v.whole.Subject)
	}
	p.printf("\nthis site has %d rows%s; its own figures, which stay here:\n", r.Rows, people)
	most := len(r.Features)
	if !all {
		most = min(most, 20)
	}
	for _, g := range r.Features[:most] {
		switch {
		case g.Rows == 0:
			p.printf("  %-24s no row has it\n", g.Name)
		case g.Levels != nil:
			var levels []string
			for k, n := range g.Levels {
				levels = append(levels, fmt.Sprintf("%s %d", g.Names[k], n))
				if k == 7 && len(g.Levels) > 9 {
					levels = append(levels, fmt.Sprintf("and %d more levels", len(g.Levels)-8))
					break
				}
			}
			p.printf("  %-24s %8d rows %8d missing  %s\n", g.Name, g.Rows, g.Missing, strings.Join(levels, ", "))
		default:
			p.printf("  %-24s %8d rows %8d missing  mean %.6g, deviation %.6g\n", g.Name, g.Rows, g.Missing, g.Mean, g.Deviation)
		}
	}
	if most < len(r.Features) {
		p.printf("  and %d more features: concord pool review --all\n", len(r.Features)-most)
	}
	floors, err := v.floors()
	if err != nil {
		return err
	}
	p.printf("\nfloors: %d rows (%s), %d people (%s); a feature counts as rows do\n", floors.Rows.Least, floors.Rows.By, floors.People.Least, floors.People.By)
	colluders := v.whole.Pooling.Colluders
	p.printf("\nWhat this means:\n")
	said := []string{
		"what leaves are these figures with masks on them: numbers that look random to everybody, the analyst included. The masks go away in the sum over all parties, and only there.",
		"every party learns the sums, and so do parties that come later. The analyst learns none of them.",
		fmt.Sprintf("%sall other parties together (%d here) know this site's own figures: the sums minus theirs. Fewer of them, which is what the contract assumes (%s), learn of it only the sum over the %d parties that are left%s.",
			v.viewAlone(), len(m.Recipients), partiesWord(colluders), v.standTogether(len(m.Recipients)+1)-colluders, v.ofThisView()),
		"once all have sent theirs and most have revealed, nothing is taken back: a party that withdraws later stays in the sums.",
	}
	if stage.Kind != contract.StageFigures {
		said = append(said, "second moments say which columns rise and fall together in all rows; of a site with few rows they say more than means do.")
	}
	levels := make([][]int, len(r.Features))
	for j, g := range r.Features {
		levels[j] = g.Levels
	}
	for _, warning := range pooled.Warnings(v.contract, stage, r.Rows, levels) {
		said = append(said, "look at this: "+warning+".")
	}
	for _, line := range said {
		p.printf("%s\n", wrapped("- "+line, 2, 100))
	}
	return nil
}

func partiesWord(n int) string {
	if n == 1 {
		return "one party, with the analyst"
	}
	return fmt.Sprintf("%d parties, with the analyst", n)
}

// summedInWords says what a stage sums.
func (v *visit) summedInWords(stage contract.Stage) string {
	var numbers, levels []string
	for _, f := range v.whole.Features {
		if f.Ranged() {
			numbers = append(numbers, f.Name)
		} else {
			levels = append(levels, f.Name)
		}
	}
	m := v.whole.M()
	switch stage.Kind {
	case contract.StageFigures:
		parts := []string{"the number of rows, and of each feature how many rows lack it"}
		if len(v.whole.Views) > 0 {
			parts[0] = "the number of rows of each view, and of each feature how many rows lack it"
		}
		if len(numbers) > 0 {
			parts = append(parts, "of "+listed(numbers)+" the sum and the sum of squares, which give mean and deviation")
		}
		if len(levels) > 0 {
			parts = append(parts, "of "+listed(levels)+" how many rows have each level")
		}
		return strings.Join(parts, "; ")
	case contract.StageMoments:
		if len(v.whole.Views) > 0 {
			return fmt.Sprintf("the products of each pair of the %d prepared columns, less the pooled means, summed over the rows of the sites that have both: %d numbers, which say how columns go together", m, m*(m+1)/2)
		}
		return fmt.Sprintf("the products of each pair of the %d prepared columns, summed over the rows: %d numbers. From them follow the mixtures of columns by which all parties' rows differ most, which are the common basis", m, m*(m+1)/2)
	}
	return fmt.Sprintf("the products of the %d prepared columns with %d mixtures of them that all parties know, summed over the rows: %d numbers", m, v.whole.Pooling.Sketch, m*v.whole.Pooling.Sketch+1)
}

// listed names features, at most eight of them.
func listed(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + fmt.Sprintf(" and %d more", len(names)-8)
	}
	return strings.Join(names, ", ")
}

// ownReady is the name of the draft of this site's newest ready message of a stage; ""
// if there is none.
func (v *visit) ownReady(stage int) string {
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
func (v *visit) readyApproved(name string) (bool, error) {
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
