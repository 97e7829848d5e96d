package visit

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"concord/anchor"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/visit/event"
	"concord/member"
	"concord/party"
	"concord/secret"
	"concord/wire"
)

// takeAdmission fetches what a member sealed to this site, which came after setup, and
// keeps the anchor's seed.
func (v *Visit) takeAdmission(ctx context.Context, c post.Post) error {
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	for _, info := range waiting {
		from := v.Chain.Last(info.Sender)
		if info.Kind != bundle.KindAdmission || from == nil {
			continue
		}
		origin, err := v.Chain.Root().Member(v.Chain.Origin(info.Sender))
		if err != nil {
			origin = from // a member that itself came late
		}
		r, closeFile, err := v.fetch(ctx, c, origin, info, api.AdmissionBytes(v.Contract, len(v.Chain.Root().Parties())))
		if err != nil {
			return fmt.Errorf("the anchor from %q: %w", from.Name, err)
		}
		g, err := v.admitted(r, origin)
		if err := errors.Join(err, closeFile()); err != nil {
			return wire.WithHint(fmt.Errorf("the anchor from %q: %w", from.Name, err),
				"do not go on: tell the other members and the analyst")
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
		v.tell(event.AnchorGiven{From: from, ID: g.ID(v.Contract)})
		return nil
	}
	return &wire.Waiting{For: "a member to give this site the anchor (concord admit)"}
}

// admitted reads what a member sealed to this site, and compares it with what the
// members confirmed: the sender has to be one of them, and the anchor the one that they
// signed.
func (v *Visit) admitted(r *bundle.Reader, from *identity.Statement) (party.Agreed, error) {
	var g party.Agreed
	confirmed := false
	for _, step := range v.Chain.Steps() {
		if step.Amendment.Kind == member.AmendAdd && step.Amendment.Party == v.Chain.Origin(v.Own()) {
			confirmed = slices.ContainsFunc(step.Confirmations,
				func(c *member.Confirmation) bool { return v.Chain.Same(c.Party, from.Fingerprint()) })
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
	if v.Contract.Anchor.Pieces() {
		for i := range v.Chain.Root().Parties() {
			rows, err := r.Matrix(admittedPiece(i), v.pieceLimits())
			if err != nil {
				return g, err
			}
			if _, err := party.LookAtPiece(v.Contract, rows); err != nil {
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
	id, want := g.ID(v.Contract), v.Chain.Anchor(v.Own())
	if want == nil || id != *want || r.Manifest.Anchor == nil || *r.Manifest.Anchor != id {
		return g, fmt.Errorf("it is of an anchor %s, the members confirmed another", id.Short())
	}
	return g, nil
}

// openAdmission opens what a member sealed to this site, as it lies in the inbox.
func (v *Visit) openAdmission() (party.Agreed, error) {
	paths, err := filepath.Glob(v.site.Path("inbox", bundle.KindAdmission+"-*.bundle"))
	if err != nil {
		return party.Agreed{}, err
	}
	err = wire.WithHint(errors.New("the anchor that a member gave this site is not here"), "run concord sync")
	for _, path := range paths {
		digits := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), bundle.KindAdmission+"-"), ".bundle")
		f, parseErr := wire.ParseHash(digits)
		from := v.Chain.Last(f)
		if parseErr != nil || from == nil {
			continue
		}
		if origin, rootErr := v.Chain.Root().Member(f); rootErr == nil {
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
func (v *Visit) checkAdmission(seed anchor.Seed) error {
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
func (v *Visit) admittedPieces() ([]secret.Matrix, error) {
	g, err := v.openAdmission()
	return g.Pieces, err
}
