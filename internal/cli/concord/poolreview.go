package concord

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"concord/bundle"
	"concord/internal/site"
	"concord/masked"
	"concord/pooled"
	"concord/wire"
)

// reviewed is this site's newest ready message of the stage under way, with its report.
func (v *visit) reviewedPool() (name string, m *bundle.Manifest, report poolReport, err error) {
	stage, err := v.poolStage()
	if err != nil {
		return "", nil, report, err
	}
	if stage > 0 {
		name = v.ownReady(stage)
	}
	if name == "" {
		return "", nil, report, wire.WithHint(errors.New("no figures are prepared to be summed"), "run concord pool prepare data.csv")
	}
	if m, _, err = v.loadDraft(name); err != nil {
		return "", nil, report, err
	}
	if err := v.checkPrepared(name, m); err != nil {
		return "", nil, report, err
	}
	report, err = v.poolReportOf(name)
	return name, m, report, err
}

func (p *program) reviewPool(all bool) error {
	v, err := p.open()
	if err != nil {
		return err
	}
	if err := v.needRoster(); err != nil {
		return err
	}
	if err := v.needsPooling(); err != nil && !(v.pools() && v.late() && v.site.HasSeed()) {
		return err
	}
	stage, err := v.poolStage()
	if err != nil {
		return err
	}
	if stage == 0 {
		return p.printPooled(v)
	}
	name, m, report, err := v.reviewedPool()
	if err != nil {
		return err
	}
	p.printDraft(v, m)
	if err := p.printPool(v, m, report, all); err != nil {
		return err
	}
	verdict, err := v.verdictOf(name)
	if err != nil {
		return err
	}
	p.printVerdict(verdict)
	approved, err := v.readyApproved(name)
	switch {
	case v.site.Sent(name):
		p.printf("\nthis has left\n")
	case err != nil:
		return err
	case v.site.Has("outbox", name+".bundle"):
		p.printf("\napproved and sealed, and may have left; next: concord sync\n")
	case approved:
		p.printf("\napproved; next: concord sync\n")
	default:
		p.printf("\nnothing has left; next: concord pool approve\n")
	}
	return nil
}

// verdictOf says what the ledger says of answering with a ready message.
func (v *visit) verdictOf(name string) (masked.Verdict, error) {
	stage, _, _ := site.ParsePoolName(name)
	r, err := v.loadRound(stage)
	if err != nil {
		return masked.Verdict{}, err
	}
	from, err := v.loadSource(name)
	if err != nil {
		return masked.Verdict{}, err
	}
	return v.judge(v.question(stage, r.Members(), from.SHA256, r.Config.Statistics.Hash()))
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

func (p *program) approvePool(digits, keyFile string) error {
	v, unlock, err := p.changePooling()
	if err != nil {
		return err
	}
	defer unlock()
	name, m, _, err := v.reviewedPool()
	if err != nil {
		return err
	}
	if v.site.Sent(name) {
		p.printf("this was approved, and has left\n")
		return nil
	}
	if err := v.stillPools(name, m); err != nil {
		return err
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	verdict, err := v.verdictOf(name)
	if err != nil {
		return err
	}
	if verdict.Never != nil {
		return verdict.Never
	}
	if verdict.Reveals != "" {
		p.printVerdict(verdict)
		digits = "" // a yes to a manifest is none to that
	}
	if err := p.askFor(v, m, digits); err != nil {
		return err
	}
	if err := v.approveDraft(name, m, key, bundle.PolicyPerson); err != nil {
		return err
	}
	p.printf("approved %s\nnext: concord sync\n", m.Hash().Short())
	return nil
}

// printPooled says what the pooled figures are.
func (p *program) printPooled(v *visit) error {
	pool, err := v.pooledSoFar()
	if err != nil {
		return err
	}
	f := pool.Figures()
	p.printf("the figures of %d parties, %d rows, are pooled; every party has them, the analyst has not\n", f.Sites, f.Rows)
	for j, g := range f.Features {
		name := v.whole.Features[j].Name
		if g.Levels != nil {
			var levels []string
			for k, level := range v.whole.Features[j].Spellings() {
				levels = append(levels, fmt.Sprintf("%s %d", level, g.Levels[k]))
			}
			p.printf("  %-24s %8d rows %8d missing  %s\n", name, g.Count, g.Missing, strings.Join(levels, ", "))
			continue
		}
		mean, variance := g.Moments()
		p.printf("  %-24s %8d rows %8d missing  mean %.6g, deviation %.6g\n", name, g.Count, g.Missing, mean, math.Sqrt(variance))
	}
	told := pooled.Told(v.whole, f)
	more, err := v.completedWords(pool)
	if err != nil {
		return err
	}
	for _, told := range append(told, more...) {
		p.printf("%s\n", wrapped("- "+told+".", 2, 100))
	}
	return nil
}
