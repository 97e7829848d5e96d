package visit

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
	"concord/internal/visit/event"
	"concord/npy"
	"concord/wire"
)

// afterStages is the round of the message with the common directions.
func (v *Visit) afterStages() int { return len(v.Whole.Stages()) + 1 }

// skippedFile lists the parties that people here do not wait for any more as the first.
const skippedFile = "skipped.json"

// first is the party that makes the common directions: the first in the roster that people
// confirmed, of those that have not left and that nobody here has given up.
func (v *Visit) first() *identity.Statement {
	skipped := v.skipped()
	for _, s := range v.Chain.Root().Parties() {
		if v.Chain.Present(s.Fingerprint()) != nil && !slices.Contains(skipped, s.Fingerprint()) {
			return s
		}
	}
	return v.statementIn(v.Chain.Setup())
}

func (v *Visit) skipped() []wire.Hash {
	var list []wire.Hash
	if b, err := v.site.ReadPool(skippedFile); err == nil && b != nil {
		_ = json.Unmarshal(b, &list) // a damaged list is none
	}
	return list
}

// isFirst reports whether this site makes the common directions.
func (v *Visit) isFirst() bool { return v.Chain.Same(v.first().Fingerprint(), v.Own()) }

// isDirections reports whether a bundle at the server is the first party's message.
func (v *Visit) isDirections(b api.BundleInfo) bool {
	return b.Kind == bundle.KindPool && b.Round == v.afterStages() && v.Chain.Same(b.Sender, v.first().Fingerprint())
}

// skipFirst goes on to the next party in the roster where the first never sends the
// common directions, and returns it. All parties have to do the same, or their bases differ,
// which the analyst's program finds before it aligns anything.
func (v *Visit) skipFirst(gone *identity.Statement) (*identity.Statement, error) {
	done, err := v.poolDone()
	if err != nil {
		return nil, err
	}
	if done {
		return nil, errors.New("all figures are pooled; nobody is awaited")
	}
	if v.first().Fingerprint() != gone.Fingerprint() || v.isFirst() {
		return nil, fmt.Errorf("only the common directions are awaited, of %q", v.first().Name)
	}
	b, err := json.Marshal(append(v.skipped(), gone.Fingerprint()))
	if err != nil {
		return nil, err
	}
	if err := v.site.PutPool(skippedFile, b); err != nil {
		return nil, err
	}
	return v.first(), nil
}

// directions makes the common directions and sends them, at the party that comes first in
// the roster, or takes them from it and checks them.
func (v *Visit) directions(ctx context.Context, c post.Post) error {
	if v.Whole.Basis.Kind != "common" {
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
			if err := v.keepDirections(made.Reveal()); err != nil {
				return err
			}
		}
		return v.sendDirections(ctx, c)
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
	r, closeFile, err := v.fetch(ctx, c, v.first(), waiting[i], api.PoolBytes(v.Whole))
	if err != nil {
		return err
	}
	defer closeFile()
	directions, err := r.Matrix(directionsMember, npy.Limits{Rows: v.Whole.M(), Cols: v.Whole.Basis.Dim})
	if err == nil {
		err = v.keepDirections(directions)
	}
	if err != nil {
		return wire.WithHint(fmt.Errorf("the common directions of %q: %w", v.first().Name, err),
			"do not go on: tell the other parties; what they sent is signed")
	}
	return nil
}

// keepDirections checks V against the sums and keeps it.
func (v *Visit) keepDirections(m *mat.Dense) error {
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
	v.tell(event.DirectionsFit{About: about})
	return nil
}

// sendDirections gives the common directions to the others.
func (v *Visit) sendDirections(ctx context.Context, c post.Post) error {
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
	return v.sendMessage(ctx, c, name, "common directions")
}
