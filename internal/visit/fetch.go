package visit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/internal/site"
)

// fetch copies a bundle into the inbox and opens it: every signature and hash
// is checked before it returns.
func (v *Visit) fetch(ctx context.Context, c post.Post, from *identity.Statement, info api.BundleInfo,
	limit int64) (*bundle.Reader, func() error, error) {
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
func (v *Visit) openInbox(kind string, from *identity.Statement) (*bundle.Reader, func() error, error) {
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
			return nil, nil, errors.Join(fmt.Errorf("the bundle is message %d of stage %d, not %d of %d", r.Manifest.Number,
				r.Manifest.Round, number, stage), f.Close())
		}
		return r, f.Close, nil
	}
	if r.Manifest.Round != 0 && kind != bundle.KindResult || r.Manifest.Number != 1 {
		return nil, nil, errors.Join(fmt.Errorf("the bundle is of round %d, number %d; a %s has round 0, number 1",
			r.Manifest.Round, r.Manifest.Number, kind), f.Close())
	}
	return r, f.Close, nil
}
