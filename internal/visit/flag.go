package visit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/wire"
)

// flagMember is the one member of a note to the other parties.
const flagMember = "flag.json"

// maxFlagBytes bounds it. flagBytes is how many it has, whatever the feature's name, so that
// the size says nothing of it; blindBytes are random at least.
const (
	maxFlagBytes = 4 << 10
	flagBytes    = 2 << 10
	blindBytes   = 32
)

// Flag is what a note says. It has no room for a figure.
type Flag struct {
	Format  int    `json:"format"`
	Feature string `json:"feature"`
	// Says is what is said of the feature: that its unit seems to differ.
	Says string `json:"says"`
	// Blind is random hexadecimal. The envelope, which the analyst has, names the manifest by its
	// SHA-256, and without it only as many notes are possible as the contract has features.
	Blind string `json:"blind,omitempty"`
}

// blinded is the encoding of a note as it leaves: of flagBytes, and like no other.
func (f Flag) blinded() ([]byte, error) {
	f.Blind = "0"
	b, err := wire.Canonical(f)
	if err != nil {
		return nil, err
	}
	n := max(2*blindBytes, flagBytes-len(b)+1)
	random := make([]byte, (n+1)/2)
	rand.Read(random)
	f.Blind = hex.EncodeToString(random)[:n]
	return wire.Canonical(f)
}

// flagUnit is the one thing that notes say so far.
const flagUnit = "unit"

// Sentence is what people read. It does not say at which site, nor in which direction.
func (f Flag) Sentence() string {
	return fmt.Sprintf("compare the unit and the coding of %s with the contract's: one of the sites seems to differ",
		wire.Printable(f.Feature))
}

// HeardFlag is a note of another party, as it is kept here; why it was of no use, if it was.
type HeardFlag struct {
	Flag
	From    wire.Hash `json:"from"`
	Refused string    `json:"refused,omitempty"`
}

// placeForFlag is the name of the note that says f, and whether it is approved already.
func (v *Visit) placeForFlag(f Flag) (name string, approved bool, err error) {
	for number := 1; number <= api.PoolFlags; number++ {
		name := site.PoolName(api.PoolFlagRound, number)
		if ok, err := v.readyApproved(name); err != nil || !ok {
			return name, false, err
		}
		b, err := os.ReadFile(v.site.Leaves(name, flagMember))
		if err != nil {
			return "", false, err
		}
		if said, err := parseFlag(b, v.Whole.FeatureNames()); err == nil && said == f {
			return name, true, nil
		}
	}
	return "", false, wire.WithHint(fmt.Errorf("this site has sent %d notes, which is all that a study takes",
		api.PoolFlags), "tell the others by the way on which the phrase was compared")
}

func flagFile(number int, from wire.Hash) string {
	return fmt.Sprintf("flag-%d-%s.json", number, from)
}

// parseFlag reads a note, which can name features of the contract only. What it says is
// returned, without the blind.
func parseFlag(b []byte, features []string) (Flag, error) {
	var f Flag
	if err := wire.CheckFormat(b, "the note", 1); err != nil {
		return f, err
	}
	if err := wire.DecodeCanonical(b, &f); err != nil {
		return f, err
	}
	if f.Format != 1 || f.Says != flagUnit || !slices.Contains(features, f.Feature) {
		return Flag{}, errors.New("it is of no feature of the contract, or says what this program does not know")
	}
	f.Blind = ""
	return f, nil
}

// heardFlags are the notes that came.
func (v *Visit) heardFlags() ([]HeardFlag, error) {
	files, err := filepath.Glob(v.site.Pool("flag-*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []HeardFlag
	for _, path := range files {
		b, err := v.site.ReadPool(filepath.Base(path))
		if err != nil {
			return nil, err
		}
		var f HeardFlag
		if err := json.Unmarshal(b, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if f.Refused == "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// SendNote tells the others that a feature's unit seems to differ, once people here have said
// yes to the sentence that would leave.
func (v *Visit) SendNote(ctx context.Context, feature, keyFile string, yes func(to, sentence string) bool) error {
	switch {
	case !v.pools():
		return misusef("this study pools no figures by which units could be compared")
	case v.late():
		return wire.WithHint(errors.New("this site came after setup and has no part in the masked sums"),
			"tell the others by the way on which the phrase was compared")
	case !slices.Contains(v.Whole.FeatureNames(), feature):
		return wire.WithHint(fmt.Errorf("the contract has no feature %q", wire.Printable(feature)),
			"concord check names those that seem to differ")
	}
	f := UnitNote(feature)
	name, sent, err := v.placeForFlag(f)
	if err != nil {
		return err
	}
	c, err := v.connect()
	if err != nil {
		return err
	}
	if !sent {
		if err := v.approveFlag(f, name, keyFile, yes); err != nil {
			return err
		}
	}
	return v.sendMessage(ctx, c, name, "note")
}

// approveFlag makes the approved draft of a note.
func (v *Visit) approveFlag(f Flag, name, keyFile string, yes func(to, sentence string) bool) error {
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	_, number, _ := site.ParsePoolName(name)
	h := v.poolHeader(api.PoolFlagRound, number)
	if len(h.Recipients) == 0 {
		return errors.New("no other party is left in the roster")
	}
	if !yes(v.PartyNames(h.Recipients), f.Sentence()) {
		return wire.WithHint(errors.New("nothing was sent"), "run the command again and type yes, or give --yes")
	}
	b, err := f.blinded()
	if err != nil {
		return err
	}
	if err := v.site.MakePool(); err != nil {
		return err
	}
	m, err := v.putNamed(name, bundle.Draft{Header: h, Members: []bundle.Source{bundle.FromBytes(flagMember, b)}},
		nil, func(string, *bundle.Manifest) error { return nil })
	if err != nil {
		return err
	}
	return v.approveDraft(name, m, key, bundle.PolicyPerson)
}

// exchangeNotes sends the notes that were approved and have not left, and fetches the others'.
// One that the server refuses stops nothing else: of a folder from an old copy, which does not
// know that it has sent another under the number.
func (v *Visit) exchangeNotes(ctx context.Context, c post.Post) error {
	if !v.pools() || v.late() || v.site.Closed() {
		return nil
	}
	for number := 1; number <= api.PoolFlags; number++ {
		name := site.PoolName(api.PoolFlagRound, number)
		ok, err := v.readyApproved(name)
		if err == nil && ok {
			err = v.sendMessage(ctx, c, name, "note")
		}
		var refusal *client.Refusal
		if errors.As(err, &refusal) {
			v.tell(event.NoteKept{Name: name, Why: refusal})
			continue
		}
		if err != nil {
			return err
		}
	}
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	for _, info := range waiting {
		if info.Kind != bundle.KindPool || info.Round != api.PoolFlagRound || info.Number < 1 || info.Number > api.PoolFlags {
			continue
		}
		from, err := v.Chain.Root().Member(v.Chain.Origin(info.Sender))
		if err != nil {
			continue // not of those who sum
		}
		if err := v.takeFlag(ctx, c, from, info); err != nil {
			return err
		}
	}
	return nil
}

// takeFlag fetches a note, once. One that is of no use is kept as such.
func (v *Visit) takeFlag(ctx context.Context, c post.Post, from *identity.Statement, info api.BundleInfo) error {
	name := flagFile(info.Number, from.Fingerprint())
	if known, err := v.site.ReadPool(name); known != nil || err != nil {
		return err
	}
	heard := HeardFlag{From: from.Fingerprint()}
	reader, closeFile, err := v.fetch(ctx, c, from, info, api.MaxSetupBytes)
	if err == nil {
		var b []byte
		if b, err = reader.Bytes(flagMember, maxFlagBytes); err == nil {
			heard.Flag, err = parseFlag(b, v.Whole.FeatureNames())
		}
		err = errors.Join(err, closeFile())
		if err != nil {
			heard = HeardFlag{From: from.Fingerprint(), Refused: err.Error()}
		}
	} else if !refusedBundle(err) {
		return err
	}
	if err != nil {
		v.tell(event.NoteUseless{From: from, Why: err})
		if heard.Refused == "" {
			return nil // damaged on its way; it may come whole another time
		}
	} else {
		v.tell(event.NoteCame{From: from.Name, Sentence: heard.Sentence()})
	}
	b, err := json.Marshal(heard)
	if err != nil {
		return err
	}
	return v.site.PutPool(name, append(b, '\n'))
}

// UnitNote is the note that the unit of a feature seems to differ.
func UnitNote(feature string) Flag { return Flag{Format: 1, Feature: feature, Says: flagUnit} }
