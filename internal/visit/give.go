package visit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filippo.io/age"

	"concord/bundle"
	"concord/identity"
	"concord/internal/durable"
	"concord/internal/parcel"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// toSay collects what this site has to say, and names it. What was approved and is
// not sealed yet is sealed by the command whose decision it is; the share of the anchor
// needs none after its approval.
func (v *Visit) toSay() (items []parcel.Source, what []string, err error) {
	if candidate, err := v.site.Candidate(); err != nil {
		return nil, nil, err
	} else if candidate != nil && v.roster == nil {
		items = append(items, parcel.FromBytes(parcel.KindConfirmation, candidate.Confirmation))
		what = append(what, "the confirmation of this site's coming")
	}
	if v.roster != nil {
		_, confirmation, err := v.site.Chain()
		if err != nil {
			return nil, nil, err
		}
		items = append(items, parcel.FromBytes(parcel.KindConfirmation, confirmation.Encode()))
		what = append(what, "the confirmation of the roster")
		if pending, err := v.site.Pending(); err != nil {
			return nil, nil, err
		} else if pending != nil && v.Chain.At(pending.Epoch) == nil {
			items = append(items, parcel.FromBytes(parcel.KindConfirmation, pending.Encode()))
			what = append(what, "the confirmation of a party that comes after setup")
		}
		if err := v.sealShare(); err != nil {
			return nil, nil, err
		}
		kinds, err := v.sealedKinds()
		if err != nil {
			return nil, nil, err
		}
		for _, kind := range kinds {
			path := v.site.Outbox(kind)
			if v.site.Sent(kind) || !v.site.Has("outbox", kind+".bundle") {
				continue
			}
			if err := v.sealedHere(kind, path); err != nil {
				return nil, nil, notOurs(path, err)
			}
			if err := v.noteSent(kind); err != nil {
				return nil, nil, err
			}
			item, err := parcel.FromFile(parcel.KindBundle, path)
			if err != nil {
				return nil, nil, err
			}
			items, what = append(items, item), append(what, SealedName(kind))
		}
	}
	holds := parcel.Holds{Model: v.site.Has(site.ModelFile)}
	taken, err := v.site.Taken()
	if err != nil {
		return nil, nil, err
	}
	if taken != nil {
		holds.Parcel = taken.Number
	}
	w, err := v.ownWitness()
	if err != nil {
		return nil, nil, err
	}
	if w != nil {
		items = append(items, parcel.FromBytes(parcel.KindWitness, w.Encode()))
	}
	raw, err := wire.Canonical(holds)
	if err != nil {
		return nil, nil, err
	}
	items, what = append(items, parcel.FromBytes(parcel.KindHolds, raw)), append(what, "what this site has")
	request, err := v.site.Request()
	if err != nil || request == nil || v.Chain == nil || v.Chain.At(request.To) != nil || v.site.Has(site.WithdrawnFile) {
		return items, what, err
	}
	// The last item: after it the analyst knows this site by other keys, or not at all.
	return append(items, parcel.FromBytes(parcel.KindAmendment, request.Encode())), append(what,
		asked(request.Kind)+", signed"), nil
}

// sealedKinds are the names under which bundles may lie in the outbox.
func (v *Visit) sealedKinds() ([]string, error) {
	pool, err := v.site.PoolMessages()
	return append(append([]string{bundle.KindSetup}, pool...), bundle.KindContribution, bundle.KindAdmission), err
}

// asked names an amendment that a site asks for.
func asked(kind string) string {
	if kind == member.AmendRekey {
		return "this site's new keys"
	}
	return "this site's withdrawal"
}

// sealShare puts the approved share of the anchor into the outbox, once.
func (v *Visit) sealShare() error {
	switch {
	case v.setupSent(), v.site.Has("outbox", bundle.KindSetup+".bundle"), !v.site.Has(bundle.KindSetup):
		return nil
	case v.Contract.Anchor.Pieces():
		if waits, err := v.pieceWaits(); err != nil || waits != "" {
			return err
		}
		return v.sealPiece()
	}
	return v.sealDraft(bundle.KindSetup)
}

// watched shows how much of a file is written.
type watched struct {
	*os.File
	show        func(what string, done, total int64)
	done, total int64
}

// Write shows how far writing is.
func (w *watched) Write(b []byte) (int, error) {
	n, err := w.File.Write(b)
	w.done += int64(n)
	if w.show != nil {
		w.show("written", w.done, max(w.total, w.done))
	}
	return n, err
}

// parcelPerm lets whoever carries the file read it: it is sealed.
const parcelPerm = 0o644

// SetByFile says how a site reaches the analyst from now on. A site that does not
// exist yet learns it when it joins.
func SetByFile(dir string, yes bool) error {
	s := &site.Site{Dir: dir}
	if !s.Joined() {
		return nil
	}
	return s.SetByFile(yes)
}

// Given is a parcel that was written.
type Given struct {
	Path  string
	Bytes int64
	What  []string
	// Join says that it asks to take part.
	Join bool
}

// Give writes a parcel with what a site has to say to the analyst and for which no receipt
// has come.
func Give(dir, path string, opt Options) (Given, error) {
	if err := checkTarget(dir, path); err != nil {
		return Given{}, err
	}
	s := &site.Site{Dir: dir}
	if !s.Joined() {
		if j, err := s.Joining(); err != nil {
			return Given{}, err
		} else if j != nil {
			return giveJoin(s, j, path, opt)
		}
	}
	v, err := Open(dir, Changing, opt)
	if err != nil {
		return Given{}, err
	}
	defer v.End()
	if err := s.SetByFile(true); err != nil {
		return Given{}, err
	}
	v.Files = true
	items, what, err := v.toSay()
	if err != nil {
		return Given{}, err
	}
	recipient, err := v.analyst.AgeRecipient()
	if err != nil {
		return Given{}, err
	}
	head := parcel.Head{Parcel: parcel.Party, Study: v.Study, From: v.Own(), To: v.analyst.Fingerprint()}
	n, err := opt.writeParcel(path, head, items, v.ID, recipient)
	return Given{Path: path, Bytes: n, What: what}, err
}

// giveJoin writes the parcel with which a site asks to take part.
func giveJoin(s *site.Site, j *site.Joining, path string, opt Options) (Given, error) {
	unlock, err := s.Lock()
	if err != nil {
		return Given{}, err
	}
	defer unlock()
	id, err := s.Identity()
	if err != nil {
		return Given{}, err
	}
	items := []parcel.Source{
		parcel.FromBytes(parcel.KindStatement, id.Statement.Encode()),
		parcel.FromBytes(parcel.KindProof, j.Proof),
	}
	head := parcel.Head{Parcel: parcel.Join, Study: j.Study, From: id.Statement.Fingerprint(), To: j.Analyst}
	n, err := opt.writeParcel(path, head, items, id, nil)
	return Given{Path: path, Bytes: n, What: []string{"the request to join"}, Join: true}, err
}

// writeParcel writes a parcel and returns its size in bytes.
func (o Options) writeParcel(path string, head parcel.Head, items []parcel.Source, id *identity.Identity,
	recipient age.Recipient) (int64, error) {
	head.Number = time.Now().Unix()
	hybrid, _ := recipient.(*age.HybridRecipient)
	var written *parcel.Head
	err := durable.Write(path, parcelPerm, func(f *os.File) (err error) {
		w := &watched{File: f, show: o.Progress}
		for _, it := range items {
			w.total += it.Bytes
		}
		written, err = parcel.Write(w, head, items, id.SigningKey(), hybrid)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int64(len(written.Line())) + written.Size, nil
}

// checkTarget makes sure that a parcel takes no other file's place, and none in the
// site's folder.
func checkTarget(dir, path string) error {
	inside, err := within(filepath.Dir(path), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if inside {
		return misusef("%s is in this site's own folder; name a file elsewhere", path)
	}
	ours, err := parcel.IsFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !ours {
		return wire.WithHint(fmt.Errorf("%s already exists and is not a parcel; it was not replaced",
			filepath.Base(path)), "name another file")
	}
	return err
}

// SealedName says what lies in the outbox under a name.
func SealedName(name string) string {
	if site.KindOf(name) == bundle.KindPool {
		return Named(name)
	}
	return "the " + name + " bundle"
}
