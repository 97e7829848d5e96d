package visit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/member"
	"concord/wire"
)

// seedMember is the anchor's seed in an admission; admittedPiece names the pieces, in
// the order of their parties' signing keys.
const seedMember = "seed.bin"

func admittedPiece(i int) string { return fmt.Sprintf("piece%03d", i+1) }

// closeAdmission forgets the draft of an admission that the analyst has acknowledged.
func (v *Visit) closeAdmission(done string) error {
	for _, path := range []string{v.site.Outbox(bundle.KindAdmission), v.site.Path(bundle.KindAdmission)} {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := os.Rename(v.site.Path("receipts", bundle.KindAdmission+".json"), done); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(filepath.Dir(done)), durable.SyncDir(v.site.Dir))
}

// newcomer is the party of a name that came after setup.
func (v *Visit) newcomer(name string, answer api.Roster) (*identity.Statement, error) {
	for _, s := range v.roster.Parties() {
		if !strings.EqualFold(s.Name, name) {
			continue
		}
		switch {
		case !v.Chain.Late(s.Fingerprint()):
			return nil, fmt.Errorf("%q took part in setup; it has the anchor", s.Name)
		case v.Chain.Same(s.Fingerprint(), v.Own()):
			return nil, errors.New("this site is itself the newcomer; a member admits it")
		}
		for _, step := range v.Chain.Steps() {
			if step.Amendment.Kind == member.AmendAdd && step.Amendment.Party == v.Chain.Origin(s.Fingerprint()) &&
				!slices.ContainsFunc(step.Confirmations,
					func(c *member.Confirmation) bool { return v.Chain.Same(c.Party, v.Own()) }) {
				return nil, wire.WithHint(fmt.Errorf("people here have not confirmed %q", s.Name),
					"a member that has confirmed it runs concord admit")
			}
		}
		return s, nil
	}
	if add, err := v.pendingAdd(v.Chain, answer); err == nil && add != nil && strings.EqualFold(add.Statement.Name, name) {
		return nil, &wire.Waiting{For: strings.Join(add.Missing, ", ") + " to confirm " + fmt.Sprintf("%q",
			add.Statement.Name)}
	}
	return nil, fmt.Errorf("no party is called %q", name)
}

// Admission is the anchor as it went to a party that came after setup.
type Admission struct {
	To *identity.Statement
	// Already says that it was sent and acknowledged before.
	Already bool
	Bytes   int64
	Later   bool
}

// Admit seals what the parties agreed in setup to a party that came later, once whoever
// approves here has said yes to what would leave; pieces says that near-raw rows of every
// party are in it.
func (v *Visit) Admit(ctx context.Context, name, keyFile string,
	approve func(m *bundle.Manifest, to *identity.Statement, pieces bool) error) (Admission, error) {
	var none Admission
	c, err := v.connect()
	if err != nil {
		return none, err
	}
	answer, err := v.follow(ctx, c)
	if err != nil {
		return none, err
	}
	newcomer, err := v.newcomer(name, answer)
	if err != nil {
		return none, err
	}
	to := v.Chain.Origin(newcomer.Fingerprint())
	done := v.site.Path("receipts", bundle.KindAdmission+"-"+to.String()+".json")
	if _, err := os.Stat(done); err == nil {
		return Admission{To: newcomer, Already: true}, nil
	}
	if !v.site.Has("outbox", bundle.KindAdmission+".bundle") {
		if err := v.draftAdmission(newcomer, keyFile, approve); err != nil {
			return none, err
		}
		if err := v.sealDraft(bundle.KindAdmission); err != nil {
			return none, err
		}
	} else if m, err := v.loadManifest(bundle.KindAdmission); err != nil || !v.Chain.Same(m.Recipients[0], to) {
		return none, errors.Join(err,
			fmt.Errorf("an admission of another party is sealed and not sent yet; run concord admit for that one first"))
	}
	n, err := v.sendOutbox(ctx, c, bundle.KindAdmission)
	if errors.Is(err, post.ErrLater) {
		return Admission{To: newcomer, Bytes: n, Later: true}, nil
	}
	if err != nil {
		return none, err
	}
	return Admission{To: newcomer, Bytes: n}, v.closeAdmission(done)
}

// draftAdmission makes what a newcomer gets, approved.
func (v *Visit) draftAdmission(newcomer *identity.Statement, keyFile string,
	approve func(*bundle.Manifest, *identity.Statement, bool) error) error {
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	g, err := v.agreed()
	if err != nil {
		return wire.WithHint(err, "another member that still has the anchor can admit the newcomer")
	}
	id := g.ID(v.Contract)
	if agreed := v.Chain.Anchor(newcomer.Fingerprint()); agreed == nil || *agreed != id {
		return errors.New("the anchor here is not the one that the members confirmed for the newcomer; nothing was sent")
	}
	members := []bundle.Source{bundle.FromBytes(seedMember, g.Seed.Bytes().Reveal())}
	for i, piece := range g.Pieces {
		members = append(members, bundle.FromMatrix(admittedPiece(i), piece.Reveal())...)
	}
	state, err := v.stateMembers()
	if err != nil {
		return err
	}
	members = append(members, state...)
	m, err := v.putDraft(bundle.Draft{
		Header: v.header(bundle.KindAdmission, []*identity.Statement{newcomer}), Anchor: &id, Members: members,
	}, nil, func(string, *bundle.Manifest) error { return nil })
	if err != nil {
		return err
	}
	if err := approve(m, newcomer, len(g.Pieces) > 0); err != nil {
		return err
	}
	return v.approveDraft(bundle.KindAdmission, m, key, bundle.PolicyPerson)
}
