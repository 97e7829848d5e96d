package concord

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"concord/anchor"
	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/secret"
	"concord/wire"
)

// entropyMember is the only member of a setup bundle: 32 bytes from this site's
// operating system, its share of the anchor seed.
const entropyMember = "entropy.bin"

func (p *program) syncCommand() *cobra.Command {
	return p.byFile(&cobra.Command{
		Use:   "sync",
		Short: "Do every due step that needs no decision",
		Long: `Sends the setup share that roster confirm approved, collects the other parties'
shares and derives the anchor seed from all of them; sends an approved
contribution; fetches the result when it is there. What needs a decision is
named and left to you.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.sync(cmd.Context()) },
	}, true)
}

func (p *program) sync(ctx context.Context) error {
	if err := p.arrive(ctx); err != nil {
		return err
	}
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	answer, err := p.follow(ctx, v, c)
	if err != nil {
		return err
	}
	if err := p.tellPending(v, answer); err != nil {
		return err
	}
	if err := p.flags(ctx, v, c); err != nil {
		return err
	}
	if v.site.Has(site.ModelFile) {
		return p.fetchResult(ctx, v, c)
	}
	if v.contract.Anchor.Pieces() {
		waits, err := v.pieceWaits()
		if err != nil {
			return err
		}
		if waits != "" {
			if err := v.sendConfirmation(ctx); err != nil {
				return err
			}
			p.printf("next: %s\n", waits)
			return nil
		}
	}
	err = p.setup(ctx, v, c)
	var waiting *wire.Waiting
	if err != nil && !errors.As(err, &waiting) {
		return err
	}
	if v.pools() {
		next, poolErr := p.pool(ctx, v, c, err == nil)
		if next != "" {
			p.printf("next: %s\n", next)
		}
		if err == nil && poolErr == nil && next != "" {
			return nil
		}
		if poolErr != nil && (err == nil || !errors.As(poolErr, &waiting)) {
			return poolErr
		}
	}
	if err != nil {
		return err
	}
	if v.site.Sent(bundle.KindContribution) {
		if err := v.forgetSent(); err != nil {
			return err
		}
		return p.fetchResult(ctx, v, c)
	}
	if v.site.Has(bundle.KindContribution, "leaves", approvalFile) {
		return p.sendContribution(ctx, v, c)
	}
	if v.site.Has(bundle.KindContribution) {
		p.printf("next: concord review, then concord approve\n")
	} else {
		p.printf("next: concord prepare data.csv\n")
	}
	return nil
}

// arrive makes a member of a site that came after setup, when it has become one.
func (p *program) arrive(ctx context.Context) error {
	v, unlock, err := p.change()
	if err != nil {
		return err
	}
	defer unlock()
	if candidate, err := v.site.Candidate(); candidate == nil || v.roster != nil {
		return err
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = p.become(ctx, v, c)
	return err
}

// draftSetup draws this site's share of the anchor seed and approves sending it
// to the other parties; confirming the roster is the person's yes to that.
func (p *program) draftSetup(v *visit, key ed25519.PrivateKey) error {
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
		Header:  v.header(bundle.KindSetup, v.others()),
		Members: []bundle.Source{bundle.FromBytes(entropyMember, entropy)},
	}, nil, func(string, *bundle.Manifest) error { return nil })
	if err != nil {
		return err
	}
	return v.approveDraft(bundle.KindSetup, m, key, bundle.PolicyPerson)
}

// isShare says whether a setup draft is a share of the seed for this roster, to the
// other parties, and nothing else.
func (v *visit) isShare(m *bundle.Manifest) bool {
	return m.Kind == bundle.KindSetup && m.Study == v.study && m.Epoch == v.epoch && slices.Equal(m.Recipients, v.mayGetIt(bundle.KindSetup, m.Epoch)) &&
		len(m.Members) == 1 && m.Members[0].Name == entropyMember && m.Members[0].Bytes == anchor.EntropySize
}

// setup sends this site's share and derives the seed once all shares are in.
func (p *program) setup(ctx context.Context, v *visit, c post.Post) error {
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
		done, what := "sent", ""
		if later {
			done = "sealed for the next parcel"
		}
		if v.contract.Anchor.Pieces() {
			what = " and its piece of the anchor"
		}
		p.printf("%s this site's share of the anchor seed%s: %d bytes, sealed to the other %d parties\n", done, what, n, len(v.others()))
	}
	if v.site.HasSeed() {
		return nil
	}
	if v.late() {
		return p.takeAdmission(ctx, v, c)
	}
	if err := p.checkConfirmations(ctx, v, c); err != nil {
		return err
	}
	shares, err := p.collectShares(ctx, v, c)
	if err != nil {
		return err
	}
	seed, err := anchor.DeriveSeed(v.chain.Setup(), shares)
	if err != nil {
		return err
	}
	id := wire.Hash(seed.ID())
	if err := v.noteOnce(audit.Event{Kind: audit.Agreed, Note: fmt.Sprintf("the anchor with id %s, of %d parties' shares", id.Short(), len(shares))}); err != nil {
		return err
	}
	if err := v.site.PutSeed(seed); err != nil {
		return err
	}
	p.printf("the anchor is agreed among %d parties, id %s; the analyst cannot compute it\n", len(shares), id.Short())
	return nil
}

// checkConfirmations makes sure that every other party confirmed this very
// roster and contract.
func (p *program) checkConfirmations(ctx context.Context, v *visit, c post.Post) error {
	answer, err := p.follow(ctx, v, c)
	if err != nil {
		return err
	}
	missing, err := v.unconfirmed(v.chain.Root(), answer)
	if err != nil {
		return err
	}
	if missing != nil {
		return &wire.Waiting{For: strings.Join(missing, ", ") + " to confirm the roster"}
	}
	return nil
}

// unconfirmed names the other parties of the roster that people confirm whose
// confirmation the server does not have. One of another roster or contract is an error.
func (v *visit) unconfirmed(root *member.Roster, answer api.Roster) (missing []string, err error) {
	confirmations, err := site.Confirmations(answer.Confirmations)
	if err != nil {
		return nil, fmt.Errorf("the server's confirmations: %w", err)
	}
	yes := map[wire.Hash]bool{}
	for _, c := range confirmations {
		if err := c.Check(root, v.study); err != nil {
			return nil, wire.WithHint(fmt.Errorf("the server's confirmations: %w", err), "do not go on: tell the other parties and the analyst")
		}
		yes[c.Party] = true
	}
	for _, s := range root.Parties() {
		if f := s.Fingerprint(); !yes[f] && f != v.own() && (v.chain == nil || !v.chain.Same(f, v.own())) {
			missing = append(missing, s.Name)
		}
	}
	return missing, nil
}

// collectShares fetches and opens every other party's setup bundle.
func (p *program) collectShares(ctx context.Context, v *visit, c post.Post) ([]anchor.Share, error) {
	if _, _, err := v.loadDraft(bundle.KindSetup); err != nil { // compares it with what was sealed
		return nil, err
	}
	own, err := os.ReadFile(v.site.Leaves(bundle.KindSetup, entropyMember))
	if err != nil {
		return nil, err
	}
	shares := []anchor.Share{{Key: v.statementIn(v.chain.Setup()).SigningKey, Entropy: secret.NewBytes(own)}}
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return nil, err
	}
	var missing []string
	for _, s := range v.othersIn(v.chain.Root()) {
		i := slices.IndexFunc(waiting, func(b api.BundleInfo) bool {
			return b.Kind == bundle.KindSetup && v.chain.Same(b.Sender, s.Fingerprint())
		})
		if i < 0 {
			missing = append(missing, s.Name)
			continue
		}
		entropy, err := p.openShare(ctx, v, c, s, waiting[i])
		if err != nil {
			return nil, fmt.Errorf("the setup bundle of %q: %w", s.Name, err)
		}
		shares = append(shares, anchor.Share{Key: s.SigningKey, Entropy: entropy})
	}
	if missing != nil {
		return nil, &wire.Waiting{For: strings.Join(missing, ", ") + " to send their share of the anchor seed"}
	}
	return shares, nil
}

func (p *program) openShare(ctx context.Context, v *visit, c post.Post, from *identity.Statement, info api.BundleInfo) (secret.Bytes, error) {
	r, closeFile, err := v.fetch(ctx, c, from, info, api.SetupBytes(v.contract))
	if err != nil {
		return secret.Bytes{}, err
	}
	defer closeFile()
	b, err := r.Bytes(entropyMember, anchor.EntropySize)
	if err != nil {
		return secret.Bytes{}, err
	}
	if len(b) != anchor.EntropySize {
		return secret.Bytes{}, fmt.Errorf("it holds %d bytes of entropy, must hold %d", len(b), anchor.EntropySize)
	}
	if v.contract.Anchor.Pieces() {
		piece, look, err := v.theirPiece(r)
		if err != nil {
			return secret.Bytes{}, fmt.Errorf("its piece of the anchor: %w", err)
		}
		piece.Erase()
		p.printTheirPiece(from, look)
	}
	return secret.NewBytes(b), nil
}

// fetch copies a bundle into the inbox and opens it: every signature and hash
// is checked before it returns.
func (v *visit) fetch(ctx context.Context, c post.Post, from *identity.Statement, info api.BundleInfo, limit int64) (*bundle.Reader, func() error, error) {
	name := info.Kind
	if name == bundle.KindPool {
		name = site.PoolName(info.Round, info.Number)
	}
	path := v.site.Inbox(name, from.Fingerprint())
	err := durable.Write(path, draftPerm, func(f *os.File) error {
		_, err := c.Fetch(ctx, info.Manifest, f, limit)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	r, closeFile, err := v.openInbox(name, from)
	if err != nil {
		return nil, nil, err
	}
	if err := v.noteReceived(from, r); err != nil {
		return nil, nil, errors.Join(err, closeFile())
	}
	return r, closeFile, nil
}

// openInbox opens a bundle that was fetched, with the same checks.
func (v *visit) openInbox(kind string, from *identity.Statement) (*bundle.Reader, func() error, error) {
	f, err := os.Open(v.site.Inbox(kind, from.Fingerprint()))
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	env, _, err := bundle.ReadEnvelope(bufio.NewReader(io.NewSectionReader(f, 0, st.Size())))
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	want, id, err := v.expect(site.KindOf(kind), from.Fingerprint(), env)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	r, err := bundle.Open(f, st.Size(), want, id.AgeIdentity())
	if env.Kind == bundle.KindPool && errors.Is(err, bundle.ErrApproval) && want.Approver != nil {
		// What follows from an approved message the site's own key approves.
		want.Approver = want.SenderKey
		if r, err = bundle.Open(f, st.Size(), want, id.AgeIdentity()); err == nil && mustApprove(r.Manifest) {
			err = bundle.ErrApproval
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	if stage, number, ok := site.ParsePoolName(kind); ok {
		if r.Manifest.Round != stage || r.Manifest.Number != number {
			return nil, nil, errors.Join(fmt.Errorf("the bundle is message %d of stage %d, not %d of %d", r.Manifest.Number, r.Manifest.Round, number, stage), f.Close())
		}
		return r, f.Close, nil
	}
	if r.Manifest.Round != 0 && kind != bundle.KindResult || r.Manifest.Number != 1 {
		return nil, nil, errors.Join(fmt.Errorf("the bundle is of round %d, number %d; a %s has round 0, number 1", r.Manifest.Round, r.Manifest.Number, kind), f.Close())
	}
	return r, f.Close, nil
}
