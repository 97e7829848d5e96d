// Package post is how a site exchanges with the analyst, whatever carries it: the
// operations that commands need ([Post]), over the network (package client) or by files
// ([Box]). A site may change from one to the other at every step.
package post

import (
	"context"
	"errors"
	"io"

	"concord/internal/api"
	"concord/internal/client"
	"concord/member"
	"concord/wire"
)

// Post reaches the analyst for one site that has joined. What it returns has the form
// that the API has; whoever asks verifies signatures and hashes.
type Post interface {
	// Roster says who has joined and who has confirmed.
	Roster(ctx context.Context) (api.Roster, error)
	// Confirm hands over this site's confirmation, any number of times.
	Confirm(ctx context.Context, c *member.Confirmation) error
	// Status says how far the study is.
	Status(ctx context.Context) (api.Status, error)
	// Bundles lists what waits for this site.
	Bundles(ctx context.Context) ([]api.BundleInfo, error)
	// Send hands over the sealed bundle in a file and returns the analyst's receipt.
	Send(ctx context.Context, path string) (receipt []byte, err error)
	// Fetch copies a bundle of the list to w, at most limit bytes.
	Fetch(ctx context.Context, manifest wire.Hash, w io.Writer, limit int64) (int64, error)
	// Amend hands over an amendment of the roster that this site has signed, and returns
	// it with the analyst's signature.
	Amend(ctx context.Context, amendment []byte) (*api.AmendResponse, error)
	// Close gives up what the post holds open.
	Close()
}

var (
	_ Post = (*client.Client)(nil)
	_ Post = (*Box)(nil)
)

// ErrLater is what Send and Amend return for what goes with the next parcel: the answer
// comes with a later one.
var ErrLater = errors.New("it goes with the next parcel")
