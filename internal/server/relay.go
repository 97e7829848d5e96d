package server

import (
	"context"
	"os"

	"concord/internal/api"
	"concord/internal/store"
	"concord/study"
)

// Bundles lists what waits for a party, none before the roster is closed.
func (s *Server) Bundles(ctx context.Context, hash, party study.Hash) ([]api.BundleInfo, error) {
	v, _, err := s.viewOf(ctx, hash, party)
	if err != nil {
		return nil, err
	}
	list := []api.BundleInfo{}
	if v.roster == nil {
		return list, nil
	}
	stored, err := s.store.Bundles(ctx, v.hash, v.epoch, party)
	if err != nil {
		return nil, err
	}
	for _, b := range stored {
		list = append(list, api.BundleInfo{Manifest: b.Manifest, Sender: b.Sender, Kind: b.Kind, Size: b.Size})
	}
	return list, nil
}

// OpenBundle opens the file of a bundle that is for a party. store.ErrNotFound
// says that there is none of that manifest, or that it is not for this party.
func (s *Server) OpenBundle(ctx context.Context, hash, party, manifest study.Hash) (*os.File, int64, error) {
	v, _, err := s.viewOf(ctx, hash, party)
	if err != nil {
		return nil, 0, err
	}
	if v.roster == nil {
		return nil, 0, store.ErrNotFound
	}
	stored, err := s.store.Bundles(ctx, v.hash, v.epoch, party)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range stored {
		if b.Manifest == manifest {
			file, err := s.store.OpenBundle(b)
			return file, b.Size, err
		}
	}
	return nil, 0, store.ErrNotFound
}
