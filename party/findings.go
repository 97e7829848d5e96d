package party

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	anchorspec "concord/anchor/spec"
	"concord/basis"
	"concord/contract"
	"concord/linalg"
	"concord/privacy"
	"concord/secret"
	"concord/table"
)

// Whom a finding speaks against: who would have to do what it measures.
const (
	againstColluders = "the analyst together with any one party"
	againstAnalyst   = "the analyst alone"
	againstKnower    = "an analyst who knows some of the people"
	againstSampler   = "an analyst with a second sample of the same kind"
	againstSite      = "this site itself, later"
	againstReaders   = "anybody who reads the rows or labels that leave"
)

// Finding is one figure for the person who approves, with what it means.
type Finding struct {
	// Name is short and stays the same between versions.
	Name string `json:"name"`
	// Against says who would have to do it.
	Against string `json:"against"`
	// Value is the figure that Text explains.
	Value float64 `json:"value"`
	// Text is one sentence.
	Text string `json:"text"`
	// Warn says that somebody should think before saying yes.
	Warn bool `json:"warn,omitempty"`
}

// measured is what the attacks run on: all of it in the order of what leaves.
type measured struct {
	contract *contract.Contract
	x        *mat.Dense  // standardised rows (n × m)
	high     *mat.Dense  // what the basis sees of them: x, or lifted (n × D)
	up       *basis.Lift // nil without a lift
	people   []int       // whose they are, or nil
	z        *mat.Dense  // X̃ (n × l)
	f        *mat.Dense  // F (m × l)
	a, image *mat.Dense  // A (a × m) and Ã (a × l)
	src      rand.Source
}

const (
	// linkedGuesses is how many reconstructed rows are compared with all true ones.
	linkedGuesses = 500
	// knownRepeats is how often rows are drawn that somebody knows.
	knownRepeats = 3
	// warnLinked is the share of people whose reconstructed row is nearest to their
	// own from which on a person is warned.
	warnLinked = 0.5
	// warnKnown is the error of a single reconstructed feature, in units of its
	// deviation, up to which a person is warned: people's values are known.
	warnKnown = 0.1
	// warnCorrelation is the correlation of one feature with a direction of X̃ from
	// which on a person is warned: at .95 sorting by it sorts people nearly by the
	// feature.
	warnCorrelation = 0.95
)

// attack runs the attacks of docs/methods.md section 7 on the party's own rows and adds what
// they give to r.
//
// Cost: O(n m l + (n + m) l² + m²(m + l)), and samples of rows for what is quadratic in n.
func (q measured) attack(r *Report) error {
	add := func(name, against string, value float64, warn bool, format string, args ...any) {
		r.Findings = append(r.Findings, Finding{name, against, value, fmt.Sprintf(format, args...), warn})
	}
	n, m := q.high.Dims()
	_, l := q.z.Dims()

	// What F leaves out of each row.
	dr, err := privacy.DR(q.high, q.f)
	if err != nil {
		return err
	}
	slices.Sort(dr)
	r.Eps = dr[0]
	add("eps-dr", againstColluders, dr[0], dr[0] < 0.05,
		"the basis leaves out at least %.3f of every row's length (half of the rows: %.3f or more); an attacker who inverts the projection and guesses nothing more is still off by that much; knowing the means of the features alone brings the attacker nearer, as the next figures show", dr[0], dr[n/2])
	// Rows need not span all features: what is beyond their span hides nothing.
	spanned := min(r.Rank, m)
	add("dimension", againstColluders, float64(l)/float64(m), float64(l) > 0.9*float64(spanned),
		"of %d directions that the rows span (of %d %s) %d leave: the projection protects what is in the other %d, and nothing else", spanned, m, q.contract.ColumnsWord(), l, max(0, spanned-l))

	if err := q.collude(r, add); err != nil {
		return err
	}
	if err := q.known(add); err != nil {
		return err
	}
	if err := q.distances(add); err != nil {
		return err
	}
	if err := q.match(add); err != nil {
		return err
	}
	return q.collate(r, add)
}

type adder func(name, against string, value float64, warn bool, format string, args ...any)

// collude recovers F from the anchor and its image, as the analyst and one party can
// together, and reconstructs the rows. Where F says nothing the colluders put the means
// of the features. They are given this site's: means of another site, or of a textbook,
// are near them, and nothing that is hidden rests on their being unknown.
func (q measured) collude(r *Report, add adder) error {
	f, err := privacy.RecoverBasis(q.a, q.image)
	if err != nil {
		return err
	}
	defer f.Zero()
	guess, err := q.reconstructed(f)
	if err != nil {
		return err
	}
	defer guess.Zero()
	rows, m := guess.Dims()
	x, people := q.x.Slice(0, rows, 0, m).(*mat.Dense), q.people
	if people != nil {
		people = people[:rows]
	}
	errs, err := privacy.Compare(x, guess)
	if err != nil {
		return err
	}
	link, err := privacy.LinkagePeople(x, guess, people, linkedGuesses, q.src)
	if err != nil {
		return err
	}
	if _, l := q.z.Dims(); q.up != nil {
		add("lift", againstColluders, float64(l)/float64(m), l >= m,
			"every party knows the lift, so that with the analyst it solves for the features: %d columns leave and there are %d features; with as many columns as features nothing is hidden from them, whatever the lift's width (%d rows were tried)", l, m, rows)
	}
	r.Linked = link.Rate
	names := q.contract.ColumnNames()
	for j, e := range errs.Features {
		if !e.Constant {
			r.Reconstructed = append(r.Reconstructed, FeatureRatio{names[j], e.Ratio})
		}
	}
	sortRatios(r.Reconstructed)
	known := len(r.Reconstructed) > 0 && r.Reconstructed[0].Ratio < warnKnown
	add("reconstruction", againstColluders, errs.Unexplained, errs.Unexplained < 0.1 || known,
		"rows reconstructed by undoing the projection, around means that others can guess, leave %.3f of the variation unexplained (0 is exact, 1 as good as guessing the mean for everybody)%s",
		errs.Unexplained, bestKnown(r.Reconstructed))
	add("reconstruction-row", againstColluders, errs.Rows.Min, errs.Rows.Under10 > 0.1,
		"the best reconstructed row is %.3f of its distance from the mean off, half of the rows less than %.3f; %.0f %% are within a tenth", errs.Rows.Min, errs.Rows.Median, 100*errs.Rows.Under10)
	add("linkage", againstColluders, link.Rate, link.Rate > warnLinked,
		"%.1f %% of the reconstructed rows are nearest to the very person they came from, among %d rows (by chance %.2g %%)", 100*link.Rate, link.Rows, 100*link.Chance)
	return nil
}

// reconstructed are the colluders' guesses of the rows, or through a lift of the first of
// them: there each takes a search.
func (q measured) reconstructed(f *mat.Dense) (*mat.Dense, error) {
	if q.up == nil {
		return privacy.ReconstructAround(q.z, f, linalg.ColumnMeans(q.x))
	}
	w, b := q.up.Matrices()
	mean := linalg.ColumnMeans(q.x)
	n, m := q.x.Dims()
	deviation := make([]float64, m)
	for i := range n {
		for j, v := range q.x.RawRowView(i) {
			deviation[j] += (v - mean[j]) * (v - mean[j]) / float64(n)
		}
	}
	for j, v := range deviation {
		deviation[j] = math.Sqrt(v)
	}
	return privacy.Unlift(q.z, privacy.Lifted{W: w.Reveal(), B: b.Reveal().RawRowView(0), F: f}, mean, deviation, q.src)
}

// sortRatios puts the features that come back best first.
func sortRatios(ratios []FeatureRatio) {
	slices.SortStableFunc(ratios, func(a, b FeatureRatio) int { return cmp.Compare(a.Ratio, b.Ratio) })
}

// bestKnown names up to three features that come back best.
func bestKnown(ratios []FeatureRatio) string {
	var names []string
	for _, f := range ratios[:min(3, len(ratios))] {
		names = append(names, fmt.Sprintf("%s %.2f", f.Feature, f.Ratio))
	}
	if names == nil {
		return ""
	}
	return "; best known, in units of their deviation: " + strings.Join(names, ", ")
}

// known lets the analyst know some rows and which images are theirs.
func (q measured) known(add adder) error {
	n, _ := q.x.Dims()
	_, l := q.z.Dims()
	var ks []int
	for _, k := range []int{l, 2 * l} {
		if k < n {
			ks = append(ks, k)
		}
	}
	if ks == nil {
		return nil
	}
	gains, err := privacy.KnownRows(q.x, q.z, ks, knownRepeats, q.src)
	if err != nil {
		return err
	}
	linked := ""
	if q.contract.Protocol == "nri" {
		linked = " (under nri they must first find which rows those are)"
	}
	for _, g := range gains {
		add(fmt.Sprintf("known-rows-%d", g.Knows), againstKnower, g.Error, g.Error < 0.5*g.Trivial,
			"who knows %d people's rows and which shared rows are theirs%s reads the others with an error of %.2f of their size, where the mean for everybody has %.2f",
			g.Knows, linked, g.Error, g.Trivial)
	}
	return nil
}

// distances lets the analyst know some people's rows, but not which images are theirs.
func (q measured) distances(add adder) error {
	n, _ := q.x.Dims()
	if n < 6 {
		return nil
	}
	var best privacy.DistanceLink
	for _, whiten := range []bool{false, true} {
		link, err := privacy.LinkDistances(q.x, q.z, privacy.DistanceOptions{Knows: min(50, n/2), Whiten: whiten}, q.src)
		if err != nil {
			return err
		}
		if !whiten || link.Linked > best.Linked {
			best = link
		}
	}
	add("distance-linkage", againstKnower, best.Linked, best.Linked > warnLinked,
		"who knows %d people's rows and not which shared rows are theirs finds those of %.0f %% of them by distances alone, among %d rows (by chance %.2g %%)",
		best.Knows, 100*best.Linked, best.Pool, 100*best.Chance)
	return nil
}

// match lets the analyst have a second sample of the same kind: half of the rows plays
// it, against the images of the other half.
func (q measured) match(add adder) error {
	n, m := q.x.Dims()
	_, l := q.z.Dims()
	half := n / 2
	if half < 20 {
		return nil
	}
	sample := q.x.Slice(0, half, 0, m).(*mat.Dense)
	x, z := q.x.Slice(half, n, 0, m).(*mat.Dense), q.z.Slice(half, n, 0, l).(*mat.Dense)
	for _, a := range []struct {
		name, by string
		run      func(z, public *mat.Dense, src rand.Source) (*privacy.Match, error)
	}{{"matching-pca", "principal components", privacy.MatchPCA}, {"matching-ica", "independent components", privacy.MatchICA}} {
		guess, err := a.run(z, sample, q.src)
		if err != nil {
			return err
		}
		got, err := guess.Judge(x, z, q.src)
		if err != nil {
			return err
		}
		add(a.name, againstSampler, got.Error, got.Error < 0.5*got.Trivial || got.Linked > warnLinked,
			"who has the rows of %d other people of the same kind and matches %s guesses the shared rows with an error of %.2f of their size, where the mean for everybody has %.2f; "+
				"%.1f %% of the guesses are nearest to their own person (by chance %.2g %%)", got.Knows, a.by, got.Error, got.Trivial, 100*got.Linked, 100*got.Chance)
	}
	return nil
}

// collate sorts shared rows by a column, and people by a feature.
func (q measured) collate(r *Report, add adder) error {
	matches, err := privacy.RankMatching(q.x, q.z)
	if err != nil {
		return err
	}
	var at []int // the column of each exposure
	names := q.contract.ColumnNames()
	for j, match := range matches {
		if match.Column >= 0 {
			r.Exposed = append(r.Exposed, Exposure{names[j], abs(match.Correlation), match.Near, match.ChanceNear})
			at = append(at, j)
		}
	}
	if err := q.independent(r, at, add); err != nil {
		return err
	}
	slices.SortStableFunc(r.Exposed, func(a, b Exposure) int { return cmp.Compare(b.Correlation, a.Correlation) })
	r.Exposed = r.Exposed[:min(3, len(r.Exposed))]
	if len(r.Exposed) == 0 {
		return nil
	}
	worst := r.Exposed[0]
	add("collation", againstAnalyst, worst.Correlation, worst.Correlation > warnCorrelation,
		"%s follows one direction of the shared rows with a correlation of %.2f: sorted by it, %.0f %% of the rows stand within 1 %% of their person's place by %s (by chance %.0f %%), "+
			"whatever the order they came in", worst.Feature, worst.Correlation, 100*worst.Near, worst.Feature, 100*worst.Chance)
	return nil
}

const (
	// enoughRows is how many rows a direction must have before independent components are
	// more than chance.
	enoughRows = 20
	// warnAnchor is the correlation of a feature with a component of the anchor's images
	// from which on a person is warned: at .7 half of its variation is read.
	warnAnchor = 0.7
)

// independent sorts by directions in which the shared rows are independent too, and by
// those of the anchor's images where its law shows through a projection. at says which
// feature each of r.Exposed is.
func (q measured) independent(r *Report, at []int, add adder) error {
	follow := func(of *mat.Dense) (*mat.Dense, error) {
		n, l := of.Dims()
		if n < enoughRows*l {
			return nil, nil
		}
		d, _, err := privacy.IndependentDirections(of, q.src)
		if err != nil || d == nil {
			return nil, err
		}
		var read mat.Dense
		read.Mul(q.z, d)
		same, err := privacy.Correlations(q.x, &read)
		if err != nil {
			return nil, err
		}
		var closer []int // features that follow one of these more closely
		for i, j := range at {
			if slices.Max(same.RawRowView(j)) > r.Exposed[i].Correlation {
				closer = append(closer, i)
			}
		}
		slices.SortFunc(closer, func(a, b int) int {
			return cmp.Compare(slices.Max(same.RawRowView(at[b])), slices.Max(same.RawRowView(at[a])))
		})
		closer = closer[:min(3, len(closer))] // the report names three
		if closer == nil {
			return same, nil
		}
		n, _ = q.x.Dims()
		x := mat.NewDense(n, len(closer), nil)
		for c, i := range closer {
			for row := range n {
				x.Set(row, c, q.x.At(row, at[i]))
			}
		}
		matches, err := privacy.RankMatching(x, &read)
		if err != nil {
			return nil, err
		}
		for c, i := range closer {
			if e, m := &r.Exposed[i], matches[c]; abs(m.Correlation) > e.Correlation {
				e.Correlation, e.Near = abs(m.Correlation), m.Near
			}
		}
		return same, nil
	}
	if _, err := follow(q.z); err != nil {
		return err
	}
	switch q.contract.Anchor.Kind {
	case anchorspec.Uniform, anchorspec.LowRank, anchorspec.SMOTE:
	default: // rotations change nothing of the law of the others
		return nil
	}
	same, err := follow(q.image)
	if err != nil || same == nil {
		return err
	}
	best, sum, name := 0.0, 0.0, ""
	for _, j := range at {
		most := slices.Max(same.RawRowView(j))
		if sum += most; most > best {
			best, name = most, q.contract.ColumnNames()[j]
		}
	}
	if len(at) > 0 {
		add("anchor-components", againstAnalyst, best, best > warnAnchor,
			"the %s anchor's rows are independent in single features, and so its images, which the analyst has, show directions that read them from the shared rows: %s with a correlation of %.2f, the others of %.2f in the mean; an orthonormal or normal anchor shows none",
			q.contract.Anchor.Kind, name, best, sum/float64(len(at)))
	}
	return nil
}

// regenerate makes a basis again from the same rows, as the site could at any time, and
// compares what would leave through it with z ([imakura2023], definition 1, asks that no key can be
// made again).
func (r *Report) regenerate(b basis.Spec, x secret.Matrix, z *mat.Dense, agreed Agreed, src rand.Source) error {
	again, _, err := basis.New(b, x, basis.Shared{Seed: agreed.Seed, V: agreed.Directions}, src)
	if err != nil {
		return err
	}
	defer again.Erase()
	other := again.Project(x)
	defer other.Zero()
	same, err := privacy.Correlations(other, z)
	if err != nil {
		return err
	}
	_, l := z.Dims()
	var sum float64 // of each column's own column in the basis made again
	for j := range l {
		sum += same.At(j, j)
	}
	mean := sum / float64(l)
	r.Findings = append(r.Findings, Finding{"regenerated-basis", againstSite, mean,
		fmt.Sprintf("a basis made again from the same rows gives other columns: they correlate with those that leave by %.2f in the mean (1 would mean that it can be made again)", mean), mean > 0.95})
	return nil
}

// columns says what single columns and labels of t give away by themselves.
func (r *Report) columns(c *contract.Contract, t *table.Table) error {
	var unique []string
	for j, f := range c.Features {
		if !f.Ranged() {
			continue // indices of levels
		}
		values := present(t.X().Reveal(), j)
		if len(values) == 0 {
			continue
		}
		columns, err := privacy.Columns(mat.NewDense(len(values), 1, values))
		if err != nil {
			return err
		}
		clear(values)
		if columns[0].Identifier {
			unique = append(unique, f.Name)
		}
	}
	if unique != nil {
		r.Findings = append(r.Findings, Finding{"unique-columns", againstColluders, float64(len(unique)),
			"nearly every row has a value of its own in columns that look like identifiers or dates, not measurements: " + strings.Join(unique, ", "), true})
	}
	r.rareLevels(c, t)
	r.rareLabels(c, t)
	return nil
}

// present are the values of a raw feature, gaps left out.
func present(x *mat.Dense, j int) []float64 {
	n, _ := x.Dims()
	var out []float64
	for i := range n {
		if v := x.At(i, j); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// rareLevels says which levels of categories, booleans and ordinals few people have here:
// their columns are nearly theirs alone. Missing values count as a level where they are
// one.
func (r *Report) rareLevels(c *contract.Contract, t *table.Table) {
	x, people := t.X().Reveal(), t.Persons()
	n, _ := x.Dims()
	rarest := 0
	var rare []string
	for j, f := range c.Features {
		levels := f.Spellings()
		if levels == nil {
			continue
		}
		var of []int
		seen := map[[2]int]bool{} // each person once for each level
		for i := range n {
			k, who := len(levels), i
			if v := x.At(i, j); !math.IsNaN(v) {
				k = int(v)
			} else if f.Missing != contract.MissingOwn {
				continue
			}
			if people != nil {
				who = people[i]
			}
			if at := [2]int{k, who}; !seen[at] {
				seen[at] = true
				of = append(of, k)
			}
		}
		for _, cell := range privacy.RareCells(of, rareLabel) {
			level := contract.OwnLevel
			if cell.Key < len(levels) {
				level = levels[cell.Key]
			}
			if rarest == 0 || cell.Count < rarest {
				rarest = cell.Count
			}
			rare = append(rare, fmt.Sprintf("%s=%s (%d)", f.Name, level, cell.Count))
		}
	}
	if rare == nil {
		return
	}
	more := ""
	if len(rare) > mostRare {
		rare, more = rare[:mostRare], fmt.Sprintf(" and %d more", len(rare)-mostRare)
	}
	r.Findings = append(r.Findings, Finding{"rare-levels", againstColluders, float64(rarest),
		fmt.Sprintf("fewer than %d people here have these levels: %s%s; who knows that somebody has such a level looks for their row among so few of those that are reconstructed; levels that are joined in the contract hide more",
			rareLabel, strings.Join(rare, ", "), more), true})
}

const (
	// rareLabel is how many people of one label, or level, are not rare.
	rareLabel = 10
	// mostRare levels are named.
	mostRare = 10
	// warnUnique is the share of rows whose number nobody else has from which on a
	// person is warned.
	warnUnique = 0.1
)

// rareLabels says whom the labels, which leave as they are, single out: classes of few
// people, and numbers that one row alone has.
func (r *Report) rareLabels(c *contract.Contract, t *table.Table) {
	labels, people := t.Labels(), t.Persons()
	if people == nil {
		people = make([]int, t.Rows())
		for i := range people {
			people[i] = i
		}
	}
	type member struct{ label, person int }
	var members []member // each person once for each label
	seen := map[member]bool{}
	for i, k := range labels {
		if m := (member{k, people[i]}); !seen[m] {
			seen[m] = true
			members = append(members, m)
		}
	}
	of := make([]int, len(members))
	for i, m := range members {
		of[i] = m.label
	}
	for _, cell := range privacy.RareCells(of, rareLabel) {
		r.Findings = append(r.Findings, Finding{"rare-label", againstReaders, float64(cell.Count),
			fmt.Sprintf("of all %d people only %d have the label %s, which leaves as it is: who knows who has it here knows their rows among %d",
				r.People, cell.Count, c.Label.Levels[cell.Key], r.Classes[cell.Key]), true})
	}
	values := t.Values()
	if len(values) == 0 {
		return
	}
	alone := 0
	for _, cell := range privacy.RareCells(values, 2) {
		alone += cell.Count
	}
	share := float64(alone) / float64(len(values))
	r.Findings = append(r.Findings, Finding{"unique-label", againstReaders, share,
		fmt.Sprintf("%.0f %% of the rows have a number in %s that no other row here has, and it leaves as it is: who knows that number of a person knows which shared row is theirs, in whatever order; rounding it before helps",
			100*share, c.Label.Name), share > warnUnique})
}

func abs(v float64) float64 { return max(v, -v) }
