package concord

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/site"
	"concord/wire"
)

func (p *program) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how far the study is and who is awaited",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.status(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return p.byFile(cmd, false)
}

func (p *program) status(ctx context.Context, asJSON bool) error {
	v, err := p.open()
	if err != nil {
		return err
	}
	if v.site.Has(site.WithdrawnFile) { // the server has no answer for who has left
		if asJSON {
			b, err := json.MarshalIndent(struct {
				Study wire.Hash `json:"study"`
				Name  string    `json:"name"`
				State string    `json:"state"`
			}{v.study, v.contract.Name, "withdrawn"}, "", "  ")
			p.printf("%s\n", b)
			return err
		}
		p.printf("%s: this site has withdrawn; concord withdraw says again what was deleted and what remains\n", v.contract.Name)
		return nil
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	st, err := c.Status(ctx)
	if err != nil {
		if !asJSON {
			p.printf("%s: as this site's folder has it: %s\n", v.contract.Name, v.done())
		}
		return err
	}
	next := v.next(st)
	var pool *standing
	if v.chain != nil && v.pools() && !v.late() && !v.contributed() && !v.site.HasModel() {
		waiting, err := c.Bundles(ctx)
		if err != nil {
			return err
		}
		pool = v.poolStanding(waiting)
		if pool != nil && (v.site.HasSeed() || next == "") {
			next = pool.Next
		}
	}
	heard, err := v.heardFlags()
	if err != nil {
		return err
	}
	if asJSON {
		b, err := json.MarshalIndent(struct {
			Study wire.Hash `json:"study"`
			Name  string    `json:"name"`
			api.Status
			Pool  *standing   `json:"pool,omitempty"`
			Notes []heardFlag `json:"notes,omitempty"`
			Next  string      `json:"next,omitempty"`
		}{v.study, v.contract.Name, st, pool, heard, next}, "", "  ")
		if err != nil {
			return err
		}
		p.printf("%s\n", b)
	} else {
		p.printSince(v)
		p.printf("%s: %s, %d of %d parties have joined\n", v.contract.Name, st.State, st.Present, st.Expected)
		if len(st.Pending) > 0 {
			p.printf("still to confirm who comes after setup: %s; concord roster shows it\n", strings.Join(st.Pending, "; "))
		}
		if st.Problem != "" {
			p.printf("problem: %s\n", st.Problem)
		}
		if pool != nil && pool.Stage > 0 {
			p.printf("masked sums: stage %d of %d, %s\n", pool.Stage, pool.Of, pool.Name)
		}
		for _, f := range heard {
			p.printf("! %s\n", wrapped(v.heardInWords(f), 2, 100))
		}
		if next != "" {
			p.printf("next: %s\n", next)
		}
	}
	if next == "" && pool != nil && pool.WaitingFor != "" && v.site.HasSeed() {
		return &wire.Waiting{For: pool.WaitingFor}
	}
	if next == "" && len(st.WaitingFor) > 0 {
		return &wire.Waiting{For: strings.Join(st.WaitingFor, ", ")}
	}
	return nil
}

// done says how far this site itself is, without asking the server.
func (v *visit) done() string {
	steps := []struct {
		yes  bool
		what string
	}{
		{true, "joined"},
		{v.roster != nil, "roster confirmed"},
		{v.chain != nil && v.setupSent(), "setup sent"},
		{v.site.HasSeed() || v.site.Has(site.ModelFile), "anchor agreed"},
		{v.site.Has(bundle.KindContribution), "prepared"},
		{v.site.Has(bundle.KindContribution, "leaves", approvalFile), "approved"},
		{v.site.Sent(bundle.KindContribution), "sent"},
		{v.site.Has(site.ModelFile), "model received"},
	}
	var done []string
	for _, s := range steps {
		if s.yes {
			done = append(done, s.what)
		}
	}
	return strings.Join(done, ", ")
}

// next is the command that is this site's turn, or "" when others have theirs.
func (v *visit) next(st api.Status) string {
	switch {
	case v.newerModel(st):
		return "concord receive"
	case v.site.Has(site.ModelFile):
		return "concord predict new.csv"
	case v.site.Has(site.WithdrawnFile):
		return ""
	case v.roster == nil && v.site.Has("candidate.json"):
		return "concord sync, when the members have confirmed this site"
	case v.roster == nil && st.State != api.StateJoining:
		return "concord roster, compare the phrase, then concord roster confirm"
	case v.roster == nil:
		return ""
	case !v.setupSent() && v.contract.Anchor.Pieces() && !v.waitsForParcel(bundle.KindSetup):
		if waits, err := v.pieceWaits(); err == nil && waits != "" {
			return waits
		}
		return "concord sync" // which says what does not hold
	case !v.setupSent() && !v.waitsForParcel(bundle.KindSetup):
		return "concord sync"
	case !v.site.HasSeed() && (st.State != api.StateConfirming && st.State != api.StateSetup || v.sharesTaken()):
		return "concord sync"
	case !v.site.HasSeed() && v.waitsForParcel(bundle.KindSetup):
		return giveNext
	case !v.site.HasSeed():
		return ""
	case v.site.Sent(bundle.KindContribution):
		if st.State == api.StateReleased {
			return "concord receive"
		}
		return ""
	case v.waitsForParcel(bundle.KindContribution):
		return giveNext
	case v.site.Has(bundle.KindContribution, "leaves", approvalFile):
		return "concord send"
	case v.site.Has(bundle.KindContribution):
		return "concord review, then concord approve"
	}
	return "concord prepare data.csv"
}

// newerModel reports whether the analyst has a newer model than the one here.
func (v *visit) newerModel(st api.Status) bool {
	round, err := v.site.Round()
	return err == nil && v.site.HasModel() && st.State == api.StateReleased && st.Round > round
}

// giveNext is what comes next for a site that exchanges files and has something to say.
const giveNext = "concord give FILE, bring it to the analyst, then concord take what comes back"

// printGiveNext says what comes next after a command of a site that exchanges files, unless
// --to has the command write its parcel itself.
func (p *program) printGiveNext() {
	if !p.files {
		p.printf("next: %s\n", giveNext)
	}
}

// waitsForParcel reports whether the sealed bundle of one kind goes with the next
// parcel, or went with one to which no answer has come.
func (v *visit) waitsForParcel(kind string) bool {
	return v.files && !v.site.Sent(kind) && v.site.Has("outbox", kind+".bundle")
}

// sharesTaken reports whether parcels have brought every other party's share.
func (v *visit) sharesTaken() bool {
	if !v.files {
		return false
	}
	taken, err := v.site.Taken()
	if err != nil || taken == nil {
		return false
	}
	n := 0
	for _, b := range taken.Bundles {
		if b.Kind == bundle.KindSetup {
			n++
		}
	}
	return n == len(v.others())
}

// printSince says of when the news is, at a site that exchanges files.
func (p *program) printSince(v *visit) {
	if !v.files {
		return
	}
	if taken, err := v.site.Taken(); err == nil && taken != nil {
		p.printf("as the analyst's parcel of %s UTC has it:\n", numberTime(taken.Number))
	}
}
