package visit

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"concord/anchor"
	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/member"
	"concord/secret"
	"concord/wire"
)

// draftSetup draws this site's share of the anchor seed and approves sending it
// to the other parties; confirming the roster is the person's yes to that.
func (v *Visit) draftSetup(key ed25519.PrivateKey) error {
	if v.site.Has(bundle.KindSetup) {
		// An interrupted confirm: the share is kept if it is one, for this roster. What
		// else lies there nobody has seen.
		if m, _, err := v.loadDraft(bundle.KindSetup); err == nil && v.isShare(m) {
			return v.approveDraft(bundle.KindSetup, m, key, bundle.PolicyPerson)
		}
	}
	entropy := make([]byte, anchor.EntropySize)
	rand.Read(entropy)
	m, err := v.putDraft(bundle.Draft{
		Header:  v.header(bundle.KindSetup, v.Others()),
		Members: []bundle.Source{bundle.FromBytes(EntropyMember, entropy)},
	}, nil, func(string, *bundle.Manifest) error { return nil })
	if err != nil {
		return err
	}
	return v.approveDraft(bundle.KindSetup, m, key, bundle.PolicyPerson)
}

// setup sends this site's share and derives the seed once all shares are in.
func (v *Visit) setup(ctx context.Context, c post.Post) error {
	if !v.setupSent() {
		if err := v.sendConfirmation(ctx); err != nil {
			return err
		}
		if err := v.sealShare(); err != nil {
			return err
		}
		n, err := v.sendOutbox(ctx, c, bundle.KindSetup)
		later := errors.Is(err, post.ErrLater)
		if err != nil && !later {
			return err
		}
		v.tell(event.ShareSent{Bytes: n, Later: later, Piece: v.Contract.Anchor.Pieces(), Others: len(v.Others())})
	}
	if v.site.HasSeed() {
		return nil
	}
	if v.late() {
		return v.takeAdmission(ctx, c)
	}
	if err := v.checkConfirmations(ctx, c); err != nil {
		return err
	}
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	seed, parties, err := v.deriveSeed(func(s *identity.Statement) ([]byte, error) {
		i := slices.IndexFunc(waiting, func(b api.BundleInfo) bool {
			return b.Kind == bundle.KindSetup && v.Chain.Same(b.Sender, s.Fingerprint())
		})
		if i < 0 {
			return nil, nil
		}
		return v.fetchShare(ctx, c, s, waiting[i])
	})
	if err != nil {
		return err
	}
	id := wire.Hash(seed.ID())
	note := fmt.Sprintf("the anchor with id %s, of %d parties' shares", id.Short(), parties)
	if err := v.noteOnce(audit.Event{Kind: audit.Agreed, Note: note}); err != nil {
		return err
	}
	if err := v.site.PutSeed(seed); err != nil {
		return err
	}
	v.tell(event.AnchorAgreed{Parties: parties, ID: id})
	return nil
}

// checkConfirmations makes sure that every other party confirmed this very
// roster and contract.
func (v *Visit) checkConfirmations(ctx context.Context, c post.Post) error {
	answer, err := v.follow(ctx, c)
	if err != nil {
		return err
	}
	missing, err := v.unconfirmed(v.Chain.Root(), answer)
	if err != nil {
		return err
	}
	if missing != nil {
		return &wire.Waiting{For: strings.Join(missing, ", ") + " to confirm the roster"}
	}
	return nil
}

// EntropyMember is the only member of a setup bundle: 32 bytes from this site's
// operating system, its share of the anchor seed.
const EntropyMember = "entropy.bin"

// isShare says whether a setup draft is a share of the seed for this roster, to the
// other parties, and nothing else.
func (v *Visit) isShare(m *bundle.Manifest) bool {
	return m.Kind == bundle.KindSetup && m.Study == v.Study && m.Epoch == v.epoch && slices.Equal(m.Recipients,
		v.mayGetIt(bundle.KindSetup, m.Epoch)) &&
		len(m.Members) == 1 && m.Members[0].Name == EntropyMember && m.Members[0].Bytes == anchor.EntropySize
}

// unconfirmed names the other parties of the roster that people confirm whose
// confirmation the server does not have. One of another roster or contract is an error.
func (v *Visit) unconfirmed(root *member.Roster, answer api.Roster) (missing []string, err error) {
	confirmations, err := site.Confirmations(answer.Confirmations)
	if err != nil {
		return nil, fmt.Errorf("the server's confirmations: %w", err)
	}
	yes := map[wire.Hash]bool{}
	for _, c := range confirmations {
		if err := c.Check(root, v.Study); err != nil {
			return nil, wire.WithHint(fmt.Errorf("the server's confirmations: %w", err),
				stopAndTell)
		}
		yes[c.Party] = true
	}
	for _, s := range root.Parties() {
		if f := s.Fingerprint(); !yes[f] && f != v.Own() && (v.Chain == nil || !v.Chain.Same(f, v.Own())) {
			missing = append(missing, s.Name)
		}
	}
	return missing, nil
}

// checkSeed derives the seed once more from the shares that all parties sealed and
// signed: another seed in its place may be one that somebody outside knows.
func (v *Visit) checkSeed(seed anchor.Seed) error {
	if v.late() {
		return v.checkAdmission(seed)
	}
	m, err := v.loadManifest(bundle.KindSetup)
	if err != nil {
		return err
	}
	if _, err := v.loadApproval(bundle.KindSetup, m); err != nil {
		return fmt.Errorf("this site's own share of the anchor seed: %w", err)
	}
	again, _, err := v.deriveSeed(func(s *identity.Statement) ([]byte, error) {
		r, closeFile, err := v.openInbox(bundle.KindSetup, s)
		if err != nil {
			return nil, err
		}
		b, err := r.Bytes(EntropyMember, anchor.EntropySize)
		return b, errors.Join(err, closeFile())
	})
	if err != nil {
		return err
	}
	if again.ID() != seed.ID() {
		return fmt.Errorf("the anchor seed in %s is not the one that the parties agreed", v.site.Dir)
	}
	return nil
}

// deriveSeed derives the anchor's seed from the shares of all parties, and says how many
// there are. share gives another party's, nil if it has not come.
func (v *Visit) deriveSeed(share func(*identity.Statement) ([]byte, error)) (seed anchor.Seed, parties int, err error) {
	if _, _, err := v.loadDraft(bundle.KindSetup); err != nil { // compares it with what was sealed
		return seed, 0, err
	}
	own, err := os.ReadFile(v.site.Leaves(bundle.KindSetup, EntropyMember))
	if err != nil {
		return seed, 0, err
	}
	shares := []anchor.Share{{Key: v.statementIn(v.Chain.Setup()).SigningKey, Entropy: secret.NewBytes(own)}}
	var missing []string
	for _, s := range v.othersIn(v.Chain.Root()) {
		b, err := share(s)
		if err != nil {
			return seed, 0, fmt.Errorf("the setup bundle of %q: %w", s.Name, err)
		}
		if b == nil {
			missing = append(missing, s.Name)
			continue
		}
		shares = append(shares, anchor.Share{Key: s.SigningKey, Entropy: secret.NewBytes(b)})
	}
	if missing != nil {
		return seed, 0, &wire.Waiting{For: strings.Join(missing, ", ") + " to send their share of the anchor seed"}
	}
	seed, err = anchor.DeriveSeed(v.Chain.Setup(), shares)
	return seed, len(shares), err
}

// fetchShare fetches another party's share, and looks at the piece that comes with it.
func (v *Visit) fetchShare(ctx context.Context, c post.Post, from *identity.Statement,
	info api.BundleInfo) ([]byte, error) {
	r, closeFile, err := v.fetch(ctx, c, from, info, api.SetupBytes(v.Contract))
	if err != nil {
		return nil, err
	}
	defer closeFile()
	b, err := r.Bytes(EntropyMember, anchor.EntropySize)
	if err != nil {
		return nil, err
	}
	if len(b) != anchor.EntropySize {
		return nil, fmt.Errorf("it holds %d bytes of entropy, must hold %d", len(b), anchor.EntropySize)
	}
	if v.Contract.Anchor.Pieces() {
		piece, look, err := v.theirPiece(r)
		if err != nil {
			return nil, fmt.Errorf("its piece of the anchor: %w", err)
		}
		piece.Erase()
		v.tell(event.PieceCame{From: from, Look: look})
	}
	return b, nil
}
