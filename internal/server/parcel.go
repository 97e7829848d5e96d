package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"filippo.io/age"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/parcel"
	"concord/member"
	"concord/wire"
)

// TakenParcel says what came of a parcel from a site.
type TakenParcel struct {
	Study wire.Hash
	From  *identity.Statement
	// Asks is true while the site awaits the analyst's word.
	Asks bool
	// Done are the items that are here now, whether they came with this parcel or
	// before; Refused says why others are not.
	Done    []string
	Refused []error
	// Holds is what the site says that it has; nil if it says nothing.
	Holds *parcel.Holds
	// Unknown are kinds of items that this program does not know.
	Unknown []string
}

// TakeParcel takes a parcel of size bytes from a site: every item through the same
// operation as over the network, with the same effect, and none of them before the whole
// parcel is known to be the site's own, whole and unchanged. Taking it again changes
// nothing. An error means that nothing of it was taken.
func (s *Server) TakeParcel(ctx context.Context, f io.ReaderAt, size int64) (*TakenParcel, error) {
	c, err := parcel.Open(f, size)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Parcel == parcel.Analyst:
		return nil, refused(fmt.Errorf("the parcel is from an analyst to a site, which takes it with concord take"))
	case c.To != s.id.Statement.Fingerprint():
		return nil, refused(fmt.Errorf("the parcel is for the analyst %s, this one is %s", c.To.Short(), s.id.Statement.Fingerprint().Short()))
	}
	if _, err := s.store.Study(ctx, c.Study); err != nil {
		return nil, fmt.Errorf("study %s: %w", c.Study.Short(), err)
	}
	if c.Parcel == parcel.Join {
		return s.takeJoin(ctx, c)
	}
	_, member, err := s.viewOf(ctx, c.Study, c.From)
	if err != nil {
		return nil, err
	}
	if err := c.Unseal(s.id.AgeIdentity()); err != nil {
		return nil, err
	}
	if err := c.Verify(member.SigningKey); err != nil {
		return nil, err
	}
	t := &TakenParcel{Study: c.Study, From: member, Unknown: c.Unknown()}
	for i := range c.Items {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.takeItem(ctx, c, i, t)
	}
	return t, nil
}

// takeJoin lets a site join that holds an invite, or ask.
func (s *Server) takeJoin(ctx context.Context, c *parcel.Parcel) (*TakenParcel, error) {
	if err := c.Unseal(); err != nil {
		return nil, err
	}
	statement, err := c.Statement()
	if err != nil {
		return nil, err
	}
	if err := c.Verify(statement.SigningKey); err != nil {
		return nil, err
	}
	proof, err := c.One(parcel.KindProof, 64)
	if err != nil {
		return nil, err
	}
	_, asks, err := s.JoinByProof(ctx, c.Study, proof, statement)
	if err != nil {
		return nil, err
	}
	return &TakenParcel{Study: c.Study, From: statement, Asks: asks, Done: []string{"the request to join"}, Unknown: c.Unknown()}, nil
}

// takeItem does what one item asks.
func (s *Server) takeItem(ctx context.Context, c *parcel.Parcel, i int, t *TakenParcel) {
	var what string
	var err error
	switch c.Items[i].Kind {
	case parcel.KindConfirmation:
		what = "the confirmation of the roster"
		var raw []byte
		if raw, err = c.Bytes(i, member.MaxConfirmationBytes); err == nil {
			err = s.Confirm(ctx, c.Study, c.From, raw)
		}
	case parcel.KindBundle:
		var env *bundle.Envelope
		if env, _, err = bundle.ReadEnvelope(c.Reader(i)); err == nil {
			what = "the " + env.Kind + " bundle"
			if env.Kind == bundle.KindPool {
				what = fmt.Sprintf("message %d of stage %d of the masked sums", env.Number, env.Round)
				if env.Round == api.PoolFlagRound {
					what = fmt.Sprintf("note %d to the other parties", env.Number)
				}
			}
			_, err = s.TakeBundle(ctx, c.Study, c.From, c.Reader(i))
		}
	case parcel.KindWitness:
		what = "its word on the audit logs"
		var raw []byte
		if raw, err = c.Bytes(i, member.MaxWitnessBytes); err == nil {
			_, err = s.ExchangeHeads(ctx, c.Study, c.From, raw)
		}
		if err == nil {
			return
		}
	case parcel.KindAmendment:
		what = "the amendment of the roster"
		var raw []byte
		if raw, err = c.Bytes(i, api.MaxMessageBytes); err == nil {
			_, err = s.Amend(ctx, c.Study, c.From, raw)
		}
		if e := new(problem); errors.As(err, &e) && e.code == api.CodeLeft {
			what, err = "its withdrawal, before setup was complete; nothing of it is kept", nil
		}
	case parcel.KindHolds:
		raw, err := c.Bytes(i, member.MaxReceiptBytes)
		holds := new(parcel.Holds)
		if err == nil && json.Unmarshal(raw, holds) == nil {
			t.Holds = holds
		}
		return
	default:
		return // not from a site, or not known
	}
	if err != nil {
		if what == "" {
			what = "an item of kind " + c.Items[i].Kind
		}
		t.Refused = append(t.Refused, fmt.Errorf("%s: %w", what, err))
		return
	}
	t.Done = append(t.Done, what)
}

// GivenParcel says what a parcel for a site holds.
type GivenParcel struct {
	To    *identity.Statement
	Bytes int64
	// Asks is true for a site that awaits the analyst's word: it gets the contract
	// and nothing else.
	Asks bool
	// Left is true for a site that has left: it gets the receipt for that.
	Left     bool
	Receipts int
	Bundles  []api.BundleInfo
}

// GiveParcel writes a parcel for a site: all that the site may know and fetch now, so
// that whoever takes the newest needs no other. w is at its beginning; after an error
// what it holds is worthless.
func (s *Server) GiveParcel(ctx context.Context, w io.WriteSeeker, hash, site wire.Hash) (*GivenParcel, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	to, asks, err := s.addressee(v, site)
	if err != nil {
		return nil, err
	}
	st, err := s.store.Study(ctx, hash)
	if err != nil {
		return nil, err
	}
	g := &GivenParcel{To: to, Asks: asks}
	items := []parcel.Source{
		parcel.FromBytes(parcel.KindStatement, s.id.Statement.Encode()),
		parcel.FromBytes(parcel.KindContract, st.Contract),
	}
	var more []parcel.Source
	switch {
	case v.left[site] != nil:
		g.Left = true
		more, err = s.farewell(ctx, v, site)
	case !asks:
		more, err = s.news(ctx, hash, site, g)
	}
	if err != nil {
		return nil, err
	}
	items = append(items, more...)
	head := parcel.Head{Parcel: parcel.Analyst, Study: hash, From: s.id.Statement.Fingerprint(), To: site}
	if head.Number, err = s.store.NumberParcel(ctx, hash, site, time.Now().Unix()); err != nil {
		return nil, err
	}
	recipient, err := to.AgeRecipient()
	if err != nil {
		return nil, err
	}
	written, err := parcel.Write(w, head, items, s.id.SigningKey(), recipient.(*age.HybridRecipient))
	if err != nil {
		return nil, err
	}
	g.Bytes = int64(len(written.Line())) + written.Size
	s.log.Info("gave", "study", hash.Short(), "party", to.Name, "number", written.Number, "bytes", g.Bytes)
	return g, nil
}

// addressee is a party of a study, one that asks to be, or one that has left.
func (s *Server) addressee(v *view, site wire.Hash) (to *identity.Statement, asks bool, err error) {
	if to = v.people[site]; to != nil {
		return to, false, nil
	}
	if to = v.left[site]; to != nil {
		return to, false, nil
	}
	for _, a := range v.asking {
		if a.Fingerprint() == site {
			return a, true, nil
		}
	}
	return nil, false, forbidden("%s is no party of this study and does not ask to be", site.Short())
}

// farewell is the item that a party gets which has left: the amendment by which it did,
// with both signatures, and the receipt.
func (s *Server) farewell(ctx context.Context, v *view, site wire.Hash) ([]parcel.Source, error) {
	for _, step := range v.chain.Steps() {
		a := step.Amendment
		if !v.chain.Same(a.Party, site) || a.Kind != member.AmendWithdraw && a.Kind != member.AmendRemove {
			continue
		}
		answer, err := s.amended(ctx, v.hash, a)
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(answer)
		return []parcel.Source{parcel.FromBytes(parcel.KindLeft, b)}, err
	}
	return nil, nil
}

// news are the items that a party of the study gets.
func (s *Server) news(ctx context.Context, hash, site wire.Hash, g *GivenParcel) ([]parcel.Source, error) {
	roster, err := s.Roster(ctx, hash, site)
	if err != nil {
		return nil, err
	}
	status, err := s.Status(ctx, hash)
	if err != nil {
		return nil, err
	}
	var items []parcel.Source
	for _, message := range []struct {
		kind string
		v    any
	}{{parcel.KindRoster, roster}, {parcel.KindStatus, status}} {
		b, err := json.Marshal(message.v)
		if err != nil {
			return nil, err
		}
		items = append(items, parcel.FromBytes(message.kind, b))
	}
	receipts, err := s.store.Receipts(ctx, hash, site)
	if err != nil {
		return nil, err
	}
	for _, r := range receipts {
		items = append(items, parcel.FromBytes(parcel.KindReceipt, r))
	}
	g.Receipts = len(receipts)
	if g.Bundles, err = s.Bundles(ctx, hash, site); err != nil {
		return nil, err
	}
	for _, b := range g.Bundles {
		items = append(items, parcel.FromReader(parcel.KindBundle, b.Size, func() (io.ReadCloser, error) {
			f, _, err := s.OpenBundle(ctx, hash, site, b.Manifest)
			return f, err
		}))
	}
	return items, nil
}

// Sites are the parties of a study, those that ask to be and, after them, those that
// have left: for all of them parcels can be written.
func (s *Server) Sites(ctx context.Context, hash wire.Hash) ([]*identity.Statement, error) {
	v, err := s.view(ctx, hash)
	if err != nil {
		return nil, err
	}
	sites := append(slices.Clone(v.members), v.asking...)
	for fingerprint, m := range v.people { // whoever a pending amendment names
		if !slices.ContainsFunc(sites, func(s *identity.Statement) bool { return s.Fingerprint() == fingerprint }) {
			sites = append(sites, m)
		}
	}
	return append(sites, slices.Collect(maps.Values(v.left))...), nil
}
