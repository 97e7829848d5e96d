package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"concord/bundle"
	"concord/contract"
	"concord/internal/site"
	"concord/masked"
	"concord/wire"
)

// bundles is how many bundles of a kind a finished study has stored: of masked sums what is
// masked and what takes the masks off, of each party.
func (p *play) bundles(kind string) int {
	switch {
	case kind == bundle.KindPool && p.protocol == "pool":
		return 2 * len(p.parties)
	case kind == bundle.KindPool:
		return 0
	}
	return len(p.parties)
}

// pool prepares a party's masked figures and approves them; sync does the rest.
func (q *holder) pool(ctx context.Context, phrase, data string) error {
	if err := q.do(ctx, "roster confirm", "roster", "confirm", "--phrase", phrase); err != nil {
		return err
	}
	if err := q.do(ctx, "pool prepare", "pool", "prepare", data); err != nil {
		return err
	}
	manifest, err := q.folder().readFile(siteDir + "/pool/1-1/leaves/manifest.json")
	if err != nil {
		return err
	}
	return q.do(ctx, "pool approve", "pool", "approve", wire.HashOf(manifest).String())
}

// keptPool compares what a party knows of the masked sums with what was acknowledged: its
// figures are prepared, or pooled and nothing is left of its own.
func (q *holder) keptPool(s *site.Site) error {
	if s.Closed() {
		return nil
	}
	sums, err := s.ReadPool("sums-1.secret")
	if err != nil {
		return err
	}
	own, err := s.ReadPool("vector-1.secret")
	if err != nil {
		return err
	}
	switch {
	case q.has("sync") && sums == nil:
		return errors.New("the figures are pooled, and they are gone")
	case sums == nil && own == nil:
		return errors.New("neither this site's figures nor the pooled ones are there")
	}
	return nil
}

// figures are those that a party has pooled, nil where the study pools none: the same at
// all parties, over all rows, answered once.
func (q *holder) figures(e *expected, s *site.Site) (*contract.Figures, error) {
	if q.play.protocol != "pool" {
		return nil, nil
	}
	b, err := s.ReadPool(site.PoolFigures)
	if err != nil {
		return nil, err
	}
	if e.figures != nil && !bytes.Equal(e.figures, b) {
		return nil, errors.New("it has other pooled figures than the party before")
	}
	e.figures = b
	f, err := contract.DecodeFigures(b, e.contract)
	if err != nil {
		return nil, err
	}
	want := int64(0)
	for _, n := range rows[:len(q.play.parties)] {
		want += int64(n)
	}
	if f.Rows != want || f.Sites != len(q.play.parties) {
		return nil, fmt.Errorf("%d rows of %d parties are pooled, must be %d of %d", f.Rows, f.Sites, want, len(q.play.parties))
	}
	raw, err := os.ReadFile(s.Pool(site.PoolLedger))
	if err != nil {
		return nil, err
	}
	ledger, err := masked.DecodeLedger(raw)
	if err == nil && len(ledger.Answered) != 1 {
		err = fmt.Errorf("the ledger of sums has %d answers, must have one", len(ledger.Answered))
	}
	return f, err
}
