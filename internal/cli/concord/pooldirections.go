package concord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/post"
	"concord/internal/site"
	"concord/npy"
	"concord/wire"
)

// afterStages is the round of the message with the common directions.
func (v *visit) afterStages() int { return len(v.whole.Stages()) + 1 }

// skippedFile lists the parties that people here do not wait for any more as the first.
const skippedFile = "skipped.json"

// first is the party that makes the common directions: the first in the roster that people
// confirmed, of those that have not left and that nobody here has given up.
func (v *visit) first() *identity.Statement {
	skipped := v.skipped()
	for _, s := range v.chain.Root().Parties() {
		if v.chain.Present(s.Fingerprint()) != nil && !slices.Contains(skipped, s.Fingerprint()) {
			return s
		}
	}
	return v.statementIn(v.chain.Setup())
}

func (v *visit) skipped() []wire.Hash {
	var list []wire.Hash
	if b, err := v.site.ReadPool(skippedFile); err == nil && b != nil {
		_ = json.Unmarshal(b, &list) // a damaged list is none
	}
	return list
}

// isFirst reports whether this site makes the common directions.
func (v *visit) isFirst() bool { return v.chain.Same(v.first().Fingerprint(), v.own()) }

// isDirections reports whether a bundle at the server is the first party's message.
func (v *visit) isDirections(b api.BundleInfo) bool {
	return b.Kind == bundle.KindPool && b.Round == v.afterStages() && v.chain.Same(b.Sender, v.first().Fingerprint())
}

// skipFirst goes on to the next party in the roster where the first never sends the
// common directions. All parties have to do the same, or their bases differ, which the
// analyst's program finds before it aligns anything.
func (p *program) skipFirst(v *visit, gone *identity.Statement) error {
	done, err := v.poolDone()
	if err != nil {
		return err
	}
	if done {
		return errors.New("all figures are pooled; nobody is awaited")
	}
	if v.first().Fingerprint() != gone.Fingerprint() || v.isFirst() {
		return fmt.Errorf("only the common directions are awaited, of %q", v.first().Name)
	}
	b, err := json.Marshal(append(v.skipped(), gone.Fingerprint()))
	if err != nil {
		return err
	}
	if err := v.site.PutPool(skippedFile, b); err != nil {
		return err
	}
	p.printf("the common directions now come from %q; tell the other parties to run the same command\nnext: concord sync\n", v.first().Name)
	return nil
}

// directions makes the common directions and sends them, at the party that comes first in
// the roster, or takes them from it and checks them.
func (p *program) directions(ctx context.Context, v *visit, c post.Post) error {
	if v.whole.Basis.Kind != "common" {
		return nil
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return err
	}
	if v.isFirst() {
		if !pool.Done() {
			made, _, err := pool.Directions()
			if err != nil {
				return err
			}
			if err := p.keepDirections(v, made.Reveal()); err != nil {
				return err
			}
		}
		return p.sendDirections(ctx, v, c)
	}
	if pool.Done() {
		return nil
	}
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(waiting, v.isDirections)
	if i < 0 {
		return &wire.Waiting{For: fmt.Sprintf("%q to send the common directions", v.first().Name)}
	}
	r, closeFile, err := v.fetch(ctx, c, v.first(), waiting[i], api.PoolBytes(v.whole))
	if err != nil {
		return err
	}
	defer closeFile()
	directions, err := r.Matrix(directionsMember, npy.Limits{Rows: v.whole.M(), Cols: v.whole.Basis.Dim})
	if err == nil {
		err = p.keepDirections(v, directions)
	}
	if err != nil {
		return wire.WithHint(fmt.Errorf("the common directions of %q: %w", v.first().Name, err),
			"do not go on: tell the other parties; what they sent is signed")
	}
	return nil
}

// keepDirections checks V against the sums and keeps it.
func (p *program) keepDirections(v *visit, m *mat.Dense) error {
	b, err := encodeMatrix(m)
	if err != nil {
		return err
	}
	pool, err := v.pooledSoFar()
	if err != nil {
		return err
	}
	about, err := v.takeDirections(pool, b)
	if err != nil {
		return err
	}
	if err := v.site.PutPool(directionsFile, b); err != nil {
		return err
	}
	p.printf("the common directions fit the sums: %s\n", about)
	for _, warning := range about.Warnings() {
		p.printf("%s\n", wrapped("! "+warning, 2, 100))
	}
	return nil
}

// sendDirections gives the common directions to the others.
func (p *program) sendDirections(ctx context.Context, v *visit, c post.Post) error {
	name := site.PoolName(v.afterStages(), 1)
	if v.site.Sent(name) {
		return nil
	}
	if !v.site.HasDraft(name) {
		pool, err := v.pooledSoFar()
		if err != nil {
			return err
		}
		_, err = v.putNamed(name, bundle.Draft{
			Header: v.poolHeader(v.afterStages(), 1), Members: bundle.FromMatrix(directionsMember, pool.V().Reveal()),
		}, nil, func(string, *bundle.Manifest) error { return nil })
		if err != nil {
			return err
		}
	}
	return p.sendMessage(ctx, v, c, name, "common directions")
}
