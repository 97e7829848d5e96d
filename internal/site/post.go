package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/member"
	"concord/wire"
)

// What a site keeps that exchanges files with the analyst.
const (
	joiningFile = "joining.json"
	postDir     = "post"
	takenFile   = "taken.json"
	byFileFile  = "by-file"
	requestFile = "amendment.json"
)

// Joining is what a site knows between asking to join by a file and the analyst's
// answer. The invite's secret is not in it.
type Joining struct {
	Connection
	// Analyst is the fingerprint that the invite names.
	Analyst wire.Hash `json:"analyst"`
	// Proof shows that this site holds the invite (member.JoinProof).
	Proof []byte `json:"proof"`
}

// PutJoining notes that this identity is about to ask, by a file.
func (s *Site) PutJoining(j Joining) error {
	b, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(s.path(joiningFile), append(b, '\n'), secretPerm)
}

// Joining loads what PutJoining stored; nil if this site never asked by a file.
func (s *Site) Joining() (*Joining, error) {
	b, err := os.ReadFile(s.path(joiningFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := new(Joining)
	if err := json.Unmarshal(b, j); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(joiningFile), err)
	}
	return j, nil
}

// Taken is what the newest parcel from the analyst said.
type Taken struct {
	Format int `json:"format"`
	// Number is the parcel's; an older parcel changes nothing.
	Number int64 `json:"number"`
	// Roster is nil for a site that the analyst has not let in.
	Roster  *api.Roster      `json:"roster,omitempty"`
	Status  *api.Status      `json:"status,omitempty"`
	Bundles []api.BundleInfo `json:"bundles"`
	// Left is the answer to a site that has left the study.
	Left *api.AmendResponse `json:"left,omitempty"`
}

// Taken loads what the newest parcel said; nil if none was taken.
func (s *Site) Taken() (*Taken, error) {
	b, err := os.ReadFile(s.path(postDir, takenFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := new(Taken)
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(postDir, takenFile), err)
	}
	if t.Format != 1 {
		return nil, fmt.Errorf("%s has format %d, this program reads format 1", s.path(postDir, takenFile), t.Format)
	}
	return t, nil
}

// PutTaken stores what a parcel said, after its bundles, and removes the bundles that
// it does not list.
func (s *Site) PutTaken(t *Taken) error {
	if err := s.putTaken(t); err != nil {
		return err
	}
	return s.dropUnlisted(t)
}

// dropUnlisted removes the bundles that came in a parcel and that t does not list.
func (s *Site) dropUnlisted(t *Taken) error {
	entries, err := os.ReadDir(s.path(postDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		hash, err := wire.ParseHash(strings.TrimSuffix(e.Name(), ".bundle"))
		if err != nil || slices.ContainsFunc(t.Bundles, func(b api.BundleInfo) bool { return b.Manifest == hash }) {
			continue
		}
		if err := os.Remove(s.path(postDir, e.Name())); err != nil {
			return err
		}
	}
	return durable.SyncDir(s.path(postDir))
}

func (s *Site) putTaken(t *Taken) error {
	t.Format = 1
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(s.path(postDir, takenFile), append(b, '\n'), filePerm)
}

// PutPosted stores a bundle that came in a parcel.
func (s *Site) PutPosted(manifest wire.Hash, r io.Reader) error {
	return durable.Copy(s.posted(manifest), secretPerm, r)
}

// OpenPosted opens a bundle that came in a parcel.
func (s *Site) OpenPosted(manifest wire.Hash) (*os.File, error) { return os.Open(s.posted(manifest)) }

func (s *Site) posted(manifest wire.Hash) string {
	return s.path(postDir, manifest.String()+".bundle")
}

// forgetPostedShares removes the other parties' shares of the anchor that came in a
// parcel.
func (s *Site) forgetPostedShares() error {
	t, err := s.Taken()
	if t == nil || err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(t.Bundles), func(b api.BundleInfo) bool {
		return b.Kind == bundle.KindSetup || b.Kind == bundle.KindPool || b.Kind == bundle.KindAdmission
	})
	if len(rest) == len(t.Bundles) {
		return s.dropUnlisted(t) // which may have been interrupted
	}
	t.Bundles = rest
	return s.PutTaken(t)
}

// PutRequest keeps an amendment that this site has signed for its next parcels.
func (s *Site) PutRequest(amendment []byte) error {
	if err := s.makePost(); err != nil {
		return err
	}
	return durable.WriteFile(s.path(postDir, requestFile), amendment, filePerm)
}

// Request loads what PutRequest stored; nil if there is none.
func (s *Site) Request() (*member.Amendment, error) {
	b, err := os.ReadFile(s.path(postDir, requestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return member.DecodeAmendment(b)
}

// ForgetRequest removes what PutRequest stored.
func (s *Site) ForgetRequest() error {
	if err := os.Remove(s.path(postDir, requestFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// ByFile reports whether this site exchanges files with the analyst and makes no
// connection.
func (s *Site) ByFile() bool { return s.has(postDir, byFileFile) }

// SetByFile says how this site reaches the analyst from now on.
func (s *Site) SetByFile(yes bool) error {
	switch {
	case yes == s.ByFile():
		return nil
	case !yes:
		return durable.Remove(s.path(postDir, byFileFile))
	}
	if err := s.makePost(); err != nil {
		return err
	}
	return durable.WriteFile(s.path(postDir, byFileFile), nil, filePerm)
}

// makePost makes the folder for what parcels bring.
func (s *Site) makePost() error {
	if err := os.MkdirAll(filepath.Join(s.Dir, postDir), dirPerm); err != nil {
		return err
	}
	return durable.SyncDir(s.Dir)
}
