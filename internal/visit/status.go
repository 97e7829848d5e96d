package visit

import (
	"context"
	"strings"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/site"
	"concord/wire"
)

// SoFar says how far this site itself is, without asking the server.
func (v *Visit) SoFar() string {
	steps := []struct {
		yes  bool
		what string
	}{
		{true, "joined"},
		{v.roster != nil, "roster confirmed"},
		{v.Chain != nil && v.setupSent(), "setup sent"},
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

// newerModel reports whether the analyst has a newer model than the one here.
func (v *Visit) newerModel(st api.Status) bool {
	round, err := v.site.Round()
	return err == nil && v.site.HasModel() && st.State == api.StateReleased && st.Round > round
}

// waitsForParcel reports whether the sealed bundle of one kind goes with the next
// parcel, or went with one to which no answer has come.
func (v *Visit) waitsForParcel(kind string) bool {
	return v.Files && !v.site.Sent(kind) && v.site.Has("outbox", kind+".bundle")
}

// sharesTaken reports whether parcels have brought every other party's share.
func (v *Visit) sharesTaken() bool {
	if !v.Files || v.roster == nil {
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
	return n == len(v.Others())
}

// Progress is how far the study is, and this site in it.
type Progress struct {
	Study wire.Hash
	Name  string
	// Withdrawn says that this site has left; the server has no answer for it, and nothing
	// else is known.
	Withdrawn bool
	// Unanswered says that the server was asked and did not say.
	Unanswered bool
	Status     api.Status
	Turn       Turn
	Notes      []HeardFlag
	// Since is when the parcel was written that says so, 0 where the server was asked.
	Since int64
}

// Progress asks how far the study is and says whose turn it is.
func (v *Visit) Progress(ctx context.Context) (Progress, error) {
	pr := Progress{Study: v.Study, Name: v.Contract.Name}
	if v.site.Has(site.WithdrawnFile) {
		pr.Withdrawn = true
		return pr, nil
	}
	c, err := v.connect()
	if err != nil {
		return pr, err
	}
	if pr.Status, err = c.Status(ctx); err != nil {
		pr.Unanswered = true
		return pr, err
	}
	var waiting []api.BundleInfo
	if v.poolIsDue() {
		if waiting, err = c.Bundles(ctx); err != nil {
			return pr, err
		}
	}
	pr.Turn = v.turn(pr.Status, waiting)
	if pr.Notes, err = v.heardFlags(); err != nil {
		return pr, err
	}
	if v.Files {
		if taken, err := v.site.Taken(); err == nil && taken != nil {
			pr.Since = taken.Number
		}
	}
	return pr, nil
}
