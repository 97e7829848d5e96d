package visit

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/internal/checkpage"
	"concord/internal/durable"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/table/profile"
)

// checkPooledFile remarks on a file that is not the one of which this site's figures were
// pooled: the other sites' figures are the pooled ones less those of this file. A database
// is not asked again, and what cannot be told is not said.
func (v *Visit) checkPooledFile(r *profile.Report, path string, to table.Options) {
	before, ok, err := v.pooledSource()
	if err != nil || !ok || table.IsDatabase(path) || before.database() {
		return
	}
	if now, err := describeSource(path, v.Contract, to); err == nil && now.SHA256 != before.SHA256 {
		r.Remark(profile.Finding{Kind: "file",
			Text: "this is not the file of which this site's figures were pooled, or it is read in another way",
			Cure: "what is said of the other sites holds for the file that was pooled alone: the pooled figures stay as " +
				"they are"})
	}
}

// checkFloors adds the floors that the file does not reach.
func (v *Visit) checkFloors(r *profile.Report, floors party.Floors) {
	if r.Rows == 0 {
		return // said already
	}
	err := party.CheckCounts(v.Contract,
		party.Report{Rows: r.Rows, People: r.PeopleCount(), Classes: r.ClassCounts()}, floors)
	var below *party.FloorError
	if errors.As(err, &below) {
		for i, text := range below.Problems {
			f := profile.Finding{Kind: "floor", Text: text}
			if i == len(below.Problems)-1 {
				f.Cure = below.Hint()
			}
			r.Problem(f)
		}
	}
}

// figuresFor are the pooled figures to compare with: of a file, of this site, or nil.
func (v *Visit) figuresFor(path string) (*contract.Figures, error) {
	if path == "" {
		return v.figuresHere()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := contract.DecodeFigures(b, v.Whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// pooledFeatures are the figures of the features that this site has.
func (v *Visit) pooledFeatures(f *contract.Figures) []contract.FeatureFigures {
	var out []contract.FeatureFigures
	for j, feature := range v.Whole.Features {
		if slices.Contains(v.Contract.FeatureNames(), feature.Name) {
			out = append(out, f.Features[j])
		}
	}
	return out
}

// sampleNumbers is how many numbers of rows are kept to find the directions of variation.
const sampleNumbers = 1 << 20

// sample keeps every stride-th row, the stride doubling where they become too many.
type sample struct {
	contract *contract.Contract
	most     int // rows
	stride   int
	rows     [][]float64
}

func newSample(c *contract.Contract) *sample {
	return &sample{contract: c, most: max(2, sampleNumbers/max(1, c.M())), stride: 1}
}

func (s *sample) add(r *table.Row) {
	if (r.Number-1)%s.stride != 0 {
		return
	}
	if len(s.rows) == s.most {
		for i := range s.most / 2 {
			s.rows[i], s.rows[2*i] = s.rows[2*i], s.rows[i]
		}
		for _, row := range s.rows[s.most/2:] {
			clear(row)
		}
		s.rows = s.rows[:s.most/2]
		s.stride *= 2
		if (r.Number-1)%s.stride != 0 {
			return
		}
	}
	s.rows = append(s.rows, append([]float64(nil), r.X...))
}

// directions say how wide a basis keeps how much of the rows' variation.
func (s *sample) directions(prep *contract.Preparation) []string {
	if prep == nil || len(s.rows) < 2 {
		return nil
	}
	m := s.contract.M()
	x := mat.NewDense(len(s.rows), m, nil)
	for i, row := range s.rows {
		prep.Row(x.RawRowView(i), row)
	}
	z := secret.NewMatrix(x)
	defer z.Erase()
	var out []string
	about := ""
	if s.stride > 1 {
		about = fmt.Sprintf(" (of every %dth row)", s.stride)
	}
	dims, err := basis.DimVariances(z, party.Shares...)
	if err != nil {
		return nil
	}
	for k, l := range dims {
		out = append(out, fmt.Sprintf("a basis of %d (dim: %d, of %d columns) keeps less than %.0f %% of how the rows "+
			"differ%s", l, l, m, 100*party.Shares[k], about))
	}
	return out
}

func (s *sample) erase() {
	for _, row := range s.rows {
		clear(row)
	}
}

// Checking is what a file is compared with, and what is written of it.
type Checking struct {
	View string
	// Figures is a file of pooled figures, "" for those that this site has.
	Figures string
	// Page is an HTML file to write, "" for none.
	Page string
}

// Checked is what is to be said of a file.
type Checked struct {
	Report     *profile.Report
	Directions []string
	// Compared says that the file was compared with pooled figures.
	Compared bool
}

// Check compares a file with the contract, and with the figures that the parties have
// pooled. Nothing is prepared.
func (v *Visit) Check(path string, to table.Options, how Checking) (Checked, error) {
	var done Checked
	if err := v.chooseView(path, to, how.View); err != nil {
		return done, err
	}
	if how.Page != "" {
		if err := v.mayWritePage(how.Page, "check", checkpage.Marked); err != nil {
			return done, err
		}
	}
	floors, err := v.floors()
	if err != nil {
		return done, err
	}
	opt := profile.Options{Table: to}
	figures, err := v.figuresFor(how.Figures)
	if err != nil {
		return done, err
	}
	if figures != nil {
		opt.Pooled, done.Compared = v.pooledFeatures(figures), true
	}
	opt.Preparation, _ = v.Contract.Preparation(figures) // nil while figures are to come
	some := newSample(v.Contract)
	defer some.erase()
	opt.Visit = some.add
	if done.Report, err = profile.Survey(path, v.Contract, opt); err != nil {
		return done, err
	}
	v.checkFloors(done.Report, floors)
	if figures != nil && how.Figures == "" {
		v.checkPooledFile(done.Report, path, to)
	}
	if done.Report.Fits {
		done.Directions = some.directions(opt.Preparation)
	}
	if how.Page == "" {
		return done, nil
	}
	page := checkpage.Page{Written: time.Now(), Report: done.Report, Directions: done.Directions}
	return done, durable.Write(how.Page, draftPerm, func(w *os.File) error { return page.HTML(w) })
}

// figuresHere are the pooled figures that this site has, or nil: they are pooled later, or
// not at all.
func (v *Visit) figuresHere() (*contract.Figures, error) {
	if !v.pools() {
		return nil, nil
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return nil, err
	}
	return pool.Figures(), nil
}
