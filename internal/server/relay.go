package server

import (
	"context"
	"os"

	"concord/internal/api"
	"concord/internal/store"
	"concord/wire"
)

// Bundles lists what waits for a party, none before the roster is closed.
func (s *Server) Bundles(ctx context.Context, hash, party wire.Hash) ([]api.BundleInfo, error) {
	stored, err := s.waiting(ctx, hash, party, s.store.Waiting)
	if err != nil {
		return nil, err
	}
	list := []api.BundleInfo{}
	for _, b := range stored {
		list = append(list, api.BundleInfo{Manifest: b.Manifest, Sender: b.Sender, Kind: b.Kind, Size: b.Size, Epoch: b.Epoch, Round: b.Round, Number: b.Number()})
	}
	return list, nil
}

// waiting are the bundles for a party, sealed to any keys that it has had, as find
// finds them for one.
func (s *Server) waiting(ctx context.Context, hash, party wire.Hash, find func(ctx context.Context, hash, recipient wire.Hash) ([]store.Bundle, error)) ([]store.Bundle, error) {
	v, _, err := s.viewOf(ctx, hash, party)
	if err != nil || v.chain == nil {
		return nil, err
	}
	var out []store.Bundle
	for _, name := range v.names(party) {
		stored, err := find(ctx, hash, name)
		if err != nil {
			return nil, err
		}
		for _, b := range stored {
			if v.chain.At(b.Epoch) != nil {
				out = append(out, b)
			}
		}
	}
	return out, nil
}

// OpenBundle opens the file of a bundle that is for a party. store.ErrNotFound
// says that there is none of that manifest, or that it is not for this party.
func (s *Server) OpenBundle(ctx context.Context, hash, party, manifest wire.Hash) (*os.File, int64, error) {
	stored, err := s.waiting(ctx, hash, party, func(ctx context.Context, hash, recipient wire.Hash) ([]store.Bundle, error) {
		return s.store.WaitingFor(ctx, hash, recipient, manifest)
	})
	if err != nil {
		return nil, 0, err
	}
	if len(stored) == 0 {
		return nil, 0, store.ErrNotFound
	}
	file, err := s.store.OpenBundle(stored[0])
	return file, stored[0].Size, err
}
