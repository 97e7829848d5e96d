package post

import (
	"context"
	"fmt"
	"io"
	"slices"

	"concord/internal/api"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// Box is the post of a site that exchanges files: it answers from the analyst's newest
// parcel (concord take) and leaves what this site has to say to the next one (concord
// give), which collects it from the site's folder. It never opens a connection.
type Box struct {
	site  *site.Site
	taken *site.Taken // nil before the first parcel
}

// NewBox opens the box of a site.
func NewBox(s *site.Site) (*Box, error) {
	taken, err := s.Taken()
	return &Box{s, taken}, err
}

// Roster is that of the newest parcel.
func (b *Box) Roster(context.Context) (api.Roster, error) {
	if b.taken == nil || b.taken.Roster == nil {
		return api.Roster{}, errWait()
	}
	return *b.taken.Roster, nil
}

// Confirm does nothing: every parcel that this site gives holds its confirmation.
func (b *Box) Confirm(context.Context, *member.Confirmation) error { return nil }

// Status is that of the newest parcel.
func (b *Box) Status(context.Context) (api.Status, error) {
	if b.taken == nil || b.taken.Status == nil {
		return api.Status{}, errWait()
	}
	return *b.taken.Status, nil
}

// Bundles lists what the newest parcel brought.
func (b *Box) Bundles(context.Context) ([]api.BundleInfo, error) {
	if b.taken == nil {
		return nil, nil
	}
	return slices.Clone(b.taken.Bundles), nil
}

// Send returns ErrLater: the bundle lies in the outbox, from where the next parcel
// takes it.
func (b *Box) Send(context.Context, string) ([]byte, error) { return nil, ErrLater }

// Amend returns what the newest parcel says of the amendment, or ErrLater: it goes with
// the next parcel then.
func (b *Box) Amend(_ context.Context, amendment []byte) (*api.AmendResponse, error) {
	asked, err := member.DecodeAmendment(amendment)
	if err != nil {
		return nil, err
	}
	for _, answer := range b.answers() {
		a, err := member.DecodeAmendment(answer.Amendment)
		if err != nil {
			return nil, err
		}
		if a.Same(asked) {
			return &answer, b.site.ForgetRequest()
		}
	}
	if err := b.site.PutRequest(amendment); err != nil {
		return nil, err
	}
	return nil, ErrLater
}

// answers are the amendments that the newest parcel tells of.
func (b *Box) answers() (all []api.AmendResponse) {
	if b.taken == nil {
		return nil
	}
	if b.taken.Left != nil {
		all = append(all, *b.taken.Left)
	}
	if b.taken.Roster != nil {
		for _, a := range b.taken.Roster.Amendments {
			all = append(all, api.AmendResponse{Amendment: a.Amendment})
		}
	}
	return all
}

// Fetch copies a bundle that a parcel brought.
func (b *Box) Fetch(_ context.Context, manifest wire.Hash, w io.Writer, limit int64) (int64, error) {
	f, err := b.site.OpenPosted(manifest)
	if err != nil {
		return 0, wire.WithHint(err, "take the analyst's newest parcel again")
	}
	defer f.Close()
	n, err := io.Copy(w, io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s has more than %d bytes", f.Name(), limit)
	}
	return n, err
}

// Close does nothing.
func (b *Box) Close() {}

// errWait says that a parcel must come first.
func errWait() error {
	return &wire.Waiting{For: "a parcel from the analyst that lets this site in (concord take FILE)"}
}
