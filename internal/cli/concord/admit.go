package concord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"concord/anchor"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/member"
	"concord/party"
	"concord/secret"
	"concord/wire"
)

// seedMember is the anchor's seed in an admission; admittedPiece names the pieces, in
// the order of their parties' signing keys.
const seedMember = "seed.bin"

func admittedPiece(i int) string { return fmt.Sprintf("piece%03d", i+1) }

func (p *program) admitCommand() *cobra.Command {
	var keyFile string
	cmd := &cobra.Command{
		Use:   "admit NAME",
		Short: "Give the anchor to a party that came after setup",
		Long: `Seals what the parties agreed in setup to a party that came later: the anchor's
seed, and where the anchor is made of pieces the pieces too, which show near-raw
rows of every party. It goes by the relay, which cannot read it. One member does
it, after the members whom the contract names have confirmed the newcomer; who
has the anchor can, together with the analyst, undo every party's projection.

What would leave is listed, and asks for a yes.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.admit(cmd.Context(), args[0], keyFile) },
	}
	cmd.Flags().StringVar(&keyFile, "key", "", "the approver's private key, where this site joined with an approver")
	return p.byFile(cmd, true)
}

func (p *program) admit(ctx context.Context, name, keyFile string) error {
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
	newcomer, err := v.newcomer(name, answer)
	if err != nil {
		return err
	}
	to := v.chain.Origin(newcomer.Fingerprint())
	done := v.site.Path("receipts", bundle.KindAdmission+"-"+to.String()+".json")
	if _, err := os.Stat(done); err == nil {
		p.printf("the anchor was sent to %q already, and acknowledged\n", newcomer.Name)
		return nil
	}
	if !v.site.Has("outbox", bundle.KindAdmission+".bundle") {
		if err := p.draftAdmission(v, newcomer, keyFile); err != nil {
			return err
		}
		if err := v.sealDraft(bundle.KindAdmission); err != nil {
			return err
		}
	} else if m, err := v.loadManifest(bundle.KindAdmission); err != nil || !v.chain.Same(m.Recipients[0], to) {
		return errors.Join(err, fmt.Errorf("an admission of another party is sealed and not sent yet; run concord admit for that one first"))
	}
	n, err := v.sendOutbox(ctx, c, bundle.KindAdmission)
	if errors.Is(err, post.ErrLater) {
		p.printf("sealed the anchor to %q, %d bytes, for the next parcel\n", newcomer.Name, n)
		p.printGiveNext()
		return nil
	}
	if err != nil {
		return err
	}
	p.printf("sent the anchor to %q: %d bytes, sealed to it alone\n", newcomer.Name, n)
	return v.closeAdmission(done)
}

// closeAdmission forgets the draft of an admission that the analyst has acknowledged.
func (v *visit) closeAdmission(done string) error {
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
func (v *visit) newcomer(name string, answer api.Roster) (*identity.Statement, error) {
	for _, s := range v.roster.Parties() {
		if !strings.EqualFold(s.Name, name) {
			continue
		}
		switch {
		case !v.chain.Late(s.Fingerprint()):
			return nil, fmt.Errorf("%q took part in setup; it has the anchor", s.Name)
		case v.chain.Same(s.Fingerprint(), v.own()):
			return nil, errors.New("this site is itself the newcomer; a member admits it")
		}
		for _, step := range v.chain.Steps() {
			if step.Amendment.Kind == member.AmendAdd && step.Amendment.Party == v.chain.Origin(s.Fingerprint()) &&
				!slices.ContainsFunc(step.Confirmations, func(c *member.Confirmation) bool { return v.chain.Same(c.Party, v.own()) }) {
				return nil, wire.WithHint(fmt.Errorf("people here have not confirmed %q", s.Name), "a member that has confirmed it runs concord admit")
			}
		}
		return s, nil
	}
	if add, err := v.pendingAdd(v.chain, answer); err == nil && add != nil && strings.EqualFold(add.statement.Name, name) {
		return nil, &wire.Waiting{For: strings.Join(add.missing, ", ") + " to confirm " + fmt.Sprintf("%q", add.statement.Name)}
	}
	return nil, fmt.Errorf("no party is called %q", name)
}

// draftAdmission makes what a newcomer gets, and asks for a yes.
func (p *program) draftAdmission(v *visit, newcomer *identity.Statement, keyFile string) error {
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	g, err := v.agreed()
	if err != nil {
		return wire.WithHint(err, "another member that still has the anchor can admit the newcomer")
	}
	id := g.ID(v.contract)
	if agreed := v.chain.Anchor(newcomer.Fingerprint()); agreed == nil || *agreed != id {
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
	if len(g.Pieces) > 0 {
		p.printf("! the pieces show near-raw rows of all parties to %q\n", newcomer.Name)
	}
	if err := p.askFor(v, m, ""); err != nil {
		return err
	}
	return v.approveDraft(bundle.KindAdmission, m, key, bundle.PolicyPerson)
}

// takeAdmission fetches what a member sealed to this site, which came after setup, and
// keeps the anchor's seed.
func (p *program) takeAdmission(ctx context.Context, v *visit, c post.Post) error {
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	for _, info := range waiting {
		from := v.chain.Last(info.Sender)
		if info.Kind != bundle.KindAdmission || from == nil {
			continue
		}
		origin, err := v.chain.Root().Member(v.chain.Origin(info.Sender))
		if err != nil {
			origin = from // a member that itself came late
		}
		r, closeFile, err := v.fetch(ctx, c, origin, info, api.AdmissionBytes(v.contract, len(v.chain.Root().Parties())))
		if err != nil {
			return fmt.Errorf("the anchor from %q: %w", from.Name, err)
		}
		g, err := v.admitted(r, origin)
		if err := errors.Join(err, closeFile()); err != nil {
			return wire.WithHint(fmt.Errorf("the anchor from %q: %w", from.Name, err), "do not go on: tell the other members and the analyst")
		}
		if err := v.noteReceived(from, r); err != nil {
			return err
		}
		if err := v.adopt(r, g.Seed); err != nil {
			return err
		}
		if err := v.site.PutSeed(g.Seed); err != nil {
			return err
		}
		id := g.ID(v.contract)
		p.printf("%q has given this site the anchor, id %s, which is the one that the members confirmed\n", from.Name, id.Short())
		return nil
	}
	return &wire.Waiting{For: "a member to give this site the anchor (concord admit)"}
}

// admitted reads what a member sealed to this site, and compares it with what the
// members confirmed: the sender has to be one of them, and the anchor the one that they
// signed.
func (v *visit) admitted(r *bundle.Reader, from *identity.Statement) (party.Agreed, error) {
	var g party.Agreed
	confirmed := false
	for _, step := range v.chain.Steps() {
		if step.Amendment.Kind == member.AmendAdd && step.Amendment.Party == v.chain.Origin(v.own()) {
			confirmed = slices.ContainsFunc(step.Confirmations, func(c *member.Confirmation) bool { return v.chain.Same(c.Party, from.Fingerprint()) })
		}
	}
	if !confirmed {
		return g, errors.New("it is from a party that has not confirmed this site")
	}
	if r.Approval == nil || r.Approval.Policy != bundle.PolicyPerson {
		return g, errors.New("it was not approved by a person")
	}
	b, err := r.Bytes(seedMember, anchor.SeedSize)
	if err != nil {
		return g, err
	}
	if g.Seed, err = anchor.SeedFromBytes(secret.NewBytes(b)); err != nil {
		return g, err
	}
	if v.contract.Anchor.Pieces() {
		for i := range v.chain.Root().Parties() {
			rows, err := r.Matrix(admittedPiece(i), v.pieceLimits())
			if err != nil {
				return g, err
			}
			if _, err := party.LookAtPiece(v.contract, rows); err != nil {
				return g, fmt.Errorf("piece %d: %w", i+1, err)
			}
			g.Pieces = append(g.Pieces, secret.NewMatrix(rows))
		}
	}
	if v.pools() {
		pool, _, err := v.pooledIn(r, g.Seed)
		if err != nil {
			return g, err
		}
		agreePooled(&g, pool)
	}
	id, want := g.ID(v.contract), v.chain.Anchor(v.own())
	if want == nil || id != *want || r.Manifest.Anchor == nil || *r.Manifest.Anchor != id {
		return g, fmt.Errorf("it is of an anchor %s, the members confirmed another", id.Short())
	}
	return g, nil
}

// openAdmission opens what a member sealed to this site, as it lies in the inbox.
func (v *visit) openAdmission() (party.Agreed, error) {
	paths, err := filepath.Glob(v.site.Path("inbox", bundle.KindAdmission+"-*.bundle"))
	if err != nil {
		return party.Agreed{}, err
	}
	err = wire.WithHint(errors.New("the anchor that a member gave this site is not here"), "run concord sync")
	for _, path := range paths {
		digits := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), bundle.KindAdmission+"-"), ".bundle")
		f, parseErr := wire.ParseHash(digits)
		from := v.chain.Last(f)
		if parseErr != nil || from == nil {
			continue
		}
		if origin, rootErr := v.chain.Root().Member(f); rootErr == nil {
			from = origin
		}
		r, closeFile, openErr := v.openInbox(bundle.KindAdmission, from)
		if openErr != nil {
			err = openErr
			continue
		}
		g, readErr := v.admitted(r, from)
		if readErr = errors.Join(readErr, closeFile()); readErr == nil {
			return g, nil
		}
		err = readErr
	}
	return party.Agreed{}, err
}

// checkAdmission makes sure that the seed here is the one that a member sealed to this
// site.
func (v *visit) checkAdmission(seed anchor.Seed) error {
	g, err := v.openAdmission()
	if err != nil {
		return err
	}
	if g.Seed.ID() != seed.ID() {
		return fmt.Errorf("the anchor seed in %s is not the one that a member gave this site", v.site.Dir)
	}
	return nil
}

// admittedPieces are the pieces that a member sealed to this site.
func (v *visit) admittedPieces() ([]secret.Matrix, error) {
	g, err := v.openAdmission()
	return g.Pieces, err
}

// closeCommand ends the study at this site.
func (p *program) closeCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "close",
		Short: "End the study at this site: forget the anchor",
		Long: `Deletes the anchor's seed and all that it was made of: together with the analyst
it undoes every party's projection. The model stays. Afterwards this site can admit
nobody, and under nri take part in no new round, after another party's withdrawal for
example. It cannot be undone, so a yes is asked for.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.close(yes) },
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

func (p *program) close(yes bool) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	if !v.site.HasModel() {
		return wire.WithHint(errors.New("this site has no model yet; without the anchor it could not finish"), "run concord status to see whose turn it is, or concord withdraw to leave")
	}
	if !yes && !v.site.Closed() {
		p.printf("%s\n", wrapped("deletes what the parties agreed in secret; the model stays. Afterwards this site can admit nobody, and where answers are of one's own model (nri) take part in no new round. It cannot be undone", 0, 100))
		p.printf("type yes to close %q: ", v.contract.Name)
		answer, err := p.in.ReadString('\n')
		if err != nil {
			p.printf("\n")
		}
		if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
			return wire.WithHint(errors.New("not closed; nothing was deleted"), "run the command again and type yes, or give --yes")
		}
	}
	if err := v.noteClosed(); err != nil {
		return err
	}
	if err := v.site.Close(); err != nil {
		return err
	}
	p.printf("the anchor is deleted here; the model stays\n")
	return nil
}
