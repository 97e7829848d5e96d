package concord

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/contract"
	"concord/internal/visit"
	"concord/masked"
	"concord/pooled"
)

func (p *program) poolReviewCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "review",
		Short: "Show what is summed, this site's own figures, and what others learn",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return p.visit(visit.Looking, func(v *visit.Visit) error {
				w, err := v.ReviewPool()
				if err != nil {
					return err
				}
				if w.Pool != nil {
					return p.printPooled(v, w.Pool)
				}
				p.printDraft(v, w.Manifest)
				p.printPool(v, w, all)
				p.printVerdict(w.Verdict)
				p.printState(w.Left, w.Sealed, w.Approved, "concord pool approve")
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "every feature")
	return cmd
}

func (p *program) poolApproveCommand() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "approve [MANIFEST]",
		Short: "Say yes to exactly what pool review shows",
		Long: `Signs the manifest that pool review shows. Asks for a yes, unless the first 12 or
more digits of the manifest are given. Where answering would show more than the sums,
beside what this site has answered before, it says so, and a yes has to be typed.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			digits := strings.Join(args, "")
			return p.visit(visit.Pooling, func(v *visit.Visit) error {
				m, err := v.ApprovePool(key, func(m *bundle.Manifest, verdict masked.Verdict) error {
					if verdict.Reveals != "" {
						p.printVerdict(verdict)
						digits = "" // a yes to a manifest is none to that
					}
					return p.approves(v, m, digits, "what is prepared")
				})
				return p.approved(m, err, "this was approved, and has left", "concord sync")
			})
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	return cmd
}

// approved says that something is approved, or has left if there is no manifest.
func (p *program) approved(m *bundle.Manifest, err error, left, next string) error {
	switch {
	case err != nil:
	case m == nil:
		p.printf("%s\n", left)
	default:
		p.printf("approved %s\nnext: %s\n", m.Hash().Short(), next)
	}
	return err
}

// printState says how far something is on its way to the other parties.
func (p *program) printState(left, sealed, approved bool, approve string) {
	switch {
	case left:
		p.printf("\nthis has left\n")
	case sealed:
		p.printf("\napproved and sealed, and may have left; next: concord sync\n")
	case approved:
		p.printf("\napproved; next: concord sync\n")
	default:
		p.printf("\nnothing has left; next: %s\n", approve)
	}
}

func (p *program) printVerdict(verdict masked.Verdict) {
	switch {
	case verdict.Never != nil:
		p.printf("\n! the ledger: %v\n", verdict.Never)
	case verdict.Reveals != "":
		p.printf("\n%s\n", wrapped("! the ledger: "+verdict.Reveals, 2, 100))
	default:
		p.printf("\nthe ledger: nothing that this site has answered shows more beside this than the sums\n")
	}
}

// printPooled says what the pooled figures are.
func (p *program) printPooled(v *visit.Visit, pool *pooled.Pool) error {
	f := pool.Figures()
	p.printf("the figures of %d parties, %d rows, are pooled; every party has them, the analyst does not\n", f.Sites,
		f.Rows)
	for j, g := range f.Features {
		name := v.Whole.Features[j].Name
		if g.Levels != nil {
			var levels []string
			for k, level := range v.Whole.Features[j].Spellings() {
				levels = append(levels, fmt.Sprintf("%s %d", level, g.Levels[k]))
			}
			p.printf("  %-24s %8d rows %8d missing  %s\n", name, g.Count, g.Missing, strings.Join(levels, ", "))
			continue
		}
		mean, variance := g.Moments()
		p.printf("  %-24s %8d rows %8d missing  mean %.6g, deviation %.6g\n", name, g.Count, g.Missing, mean,
			math.Sqrt(variance))
	}
	told := pooled.Told(v.Whole, f)
	more, err := v.CompletedWords(pool)
	if err != nil {
		return err
	}
	for _, told := range append(told, more...) {
		p.printf("%s\n", wrapped("- "+told+".", 2, 100))
	}
	return nil
}

// printPool shows what a ready message sums, and what that means.
func (p *program) printPool(v *visit.Visit, w visit.PoolReview, all bool) {
	r, stage, floors := w.Report, w.Stage, w.Floors
	p.printf("stage %d of %d, %s: what is summed over all parties\n", w.Manifest.Round, w.Of, stage)
	p.printf("%s\n", wrapped("- "+summedInWords(v.Whole, stage), 2, 100))
	p.printPoolView(v)
	people := ""
	if v.Whole.Subject != "" {
		people = fmt.Sprintf(" of %d people (column %s)", r.People, v.Whole.Subject)
	}
	p.printf("\nthis site has %d rows%s; its own figures, which stay here:\n", r.Rows, people)
	p.printPoolFeatures(r.Features, all)
	p.printf("\nfloors: %d rows (%s), %d people (%s); a feature counts as rows do\n", floors.Rows.Least,
		floors.Rows.By, floors.People.Least, floors.People.By)
	colluders := v.Whole.Pooling.Colluders
	p.printf("\nWhat this means:\n")
	said := []string{
		"what leaves are these figures with masks on them: numbers that look random to everybody, the analyst included. " +
			"The masks go away in the sum over all parties, and only there.",
		"every party learns the sums, and so do parties that come later. The analyst learns none of them.",
		fmt.Sprintf("%sall other parties together (%d here) know this site's own figures: the sums minus theirs. Fewer "+
			"of them, which is what the contract assumes (%s), learn of it only the sum over the %d parties that are left%s.",
			viewAlone(v), len(w.Manifest.Recipients), partiesWord(colluders),
			v.StandTogether(len(w.Manifest.Recipients)+1)-colluders, ofThisView(v)),
		"once all have sent theirs and most have revealed, nothing is taken back: a party that withdraws later stays in " +
			"the sums.",
	}
	if stage.Kind != contract.StageFigures {
		said = append(said, "second moments say which columns rise and fall together in all rows; of a site with few "+
			"rows they say more than means do.")
	}
	levels := make([][]int, len(r.Features))
	for j, g := range r.Features {
		levels[j] = g.Levels
	}
	for _, warning := range pooled.Warnings(v.Contract, stage, r.Rows, levels) {
		said = append(said, "look at this: "+warning+".")
	}
	for _, line := range said {
		p.printf("%s\n", wrapped("- "+line, 2, 100))
	}
}

// printPoolFeatures shows this site's own figures, unless all are wanted of twenty features.
func (p *program) printPoolFeatures(features []visit.PoolFeature, all bool) {
	most := len(features)
	if !all {
		most = min(most, 20)
	}
	for _, g := range features[:most] {
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
	if most < len(features) {
		p.printf("  and %d more features: concord pool review --all\n", len(features)-most)
	}
}

// printPoolView says of which features this site's figures are 0.
func (p *program) printPoolView(v *visit.Visit) {
	if v.Contract.Within == nil {
		return
	}
	p.printf("view %q: %d of %d features; this site adds 0 to the sums of the others, %s. Each sum is over the sites "+
		"that have the feature:\n",
		v.Contract.ViewOf(), len(v.Contract.Features), len(v.Whole.Features), visit.FirstOf(visit.MissingFrom(v.Contract), 8))
	for _, h := range v.Whole.Holdings(v.Chain.Root().Parties()) {
		var names []string
		for _, s := range h.Parties {
			names = append(names, fmt.Sprintf("%q", s.Name))
		}
		p.printf("  %s: %s\n", visit.ViewsNamed(h), strings.Join(names, ", "))
	}
}

// ofThisView says whom standTogether counts, where there are views.
func ofThisView(v *visit.Visit) string {
	if len(v.Whole.Views) == 0 {
		return ""
	}
	return " of those that have this site's view"
}

// viewAlone says who knows this site's figures of what no other view has, where there are views.
func viewAlone(v *visit.Visit) string {
	if len(v.Whole.Views) == 0 {
		return ""
	}
	return fmt.Sprintf("the other parties with this site's view together (%d here) know its figures of the features "+
		"that no other view has, and ", v.StandTogether(1)-1)
}

// summedInWords says what a stage sums.
func summedInWords(c *contract.Contract, stage contract.Stage) string {
	var numbers, levels []string
	for _, f := range c.Features {
		if f.Ranged() {
			numbers = append(numbers, f.Name)
		} else {
			levels = append(levels, f.Name)
		}
	}
	m := c.M()
	switch stage.Kind {
	case contract.StageFigures:
		parts := []string{"the number of rows, and of each feature how many rows lack it"}
		if len(c.Views) > 0 {
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
		if len(c.Views) > 0 {
			return fmt.Sprintf("the products of each pair of the %d prepared columns, less the pooled means, summed over "+
				"the rows of the sites that have both: %d numbers, which say how columns go together", m, m*(m+1)/2)
		}
		return fmt.Sprintf("the products of each pair of the %d prepared columns, summed over the rows: %d numbers. From "+
			"them follow the mixtures of columns by which all parties' rows differ most, which are the common basis", m,
			m*(m+1)/2)
	}
	return fmt.Sprintf("the products of the %d prepared columns with %d mixtures of them that all parties know, "+
		"summed over the rows: %d numbers", m, c.Pooling.Sketch, m*c.Pooling.Sketch+1)
}

func partiesWord(n int) string {
	if n == 1 {
		return "one party, with the analyst"
	}
	return fmt.Sprintf("%d parties, with the analyst", n)
}

// listed names features, at most eight of them.
func listed(names []string) string {
	if len(names) > 8 {
		return strings.Join(names[:8], ", ") + fmt.Sprintf(" and %d more", len(names)-8)
	}
	return strings.Join(names, ", ")
}
