package visit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/parcel"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/member"
	"concord/wire"
)

// takeBundle keeps a bundle for this site, under the hash of its manifest. What is in
// it is checked by whoever opens it.
func (v *Visit) takeBundle(news *site.Taken, c *parcel.Parcel, i int) error {
	size := c.Items[i].Bytes
	env, _, err := bundle.ReadEnvelope(c.Reader(i))
	if err != nil {
		return err
	}
	parties := v.Contract.Parties
	if v.Chain != nil {
		parties = len(v.Chain.Root().Members)
	}
	most := max(maxResultBytes(v.Contract), api.AdmissionBytes(v.Contract, parties), api.PoolBytes(v.Whole))
	if size > most {
		return fmt.Errorf("the parcel's %s bundle has %d bytes, at most %d are taken in this study", env.Kind, size, most)
	}
	if !slices.ContainsFunc(env.Recipients, v.mine) || env.Study != v.Study {
		return fmt.Errorf("the parcel's %s bundle is for somebody else", env.Kind)
	}
	if (env.Kind == bundle.KindSetup || env.Kind == bundle.KindPool) && v.site.Closed() {
		return nil // the study has ended here, and shares of the anchor are gone
	}
	if slices.ContainsFunc(news.Bundles, func(b api.BundleInfo) bool { return b.Manifest == env.Manifest }) {
		return fmt.Errorf("the parcel holds the bundle of manifest %s twice", env.Manifest.Short())
	}
	info := api.BundleInfo{Manifest: env.Manifest, Sender: env.Sender, Kind: env.Kind, Size: size, Epoch: env.Epoch,
		Round: env.Round}
	if env.Kind == bundle.KindPool {
		info.Number = env.Number
	}
	news.Bundles = append(news.Bundles, info)
	return v.site.PutPosted(env.Manifest, c.Reader(i))
}

// Took is what a parcel brought.
type Took struct {
	// Older says that it changed nothing.
	Older                    bool
	Shares, Messages, Result int
	// Left is how the study ended here; nil if it has not. hasLeft says that the analyst
	// has let this site go.
	Left    *Withdrawal
	HasLeft bool
	// Status is nil where the analyst has not let this site in.
	Status *api.Status
	Turn   Turn
}

// Take takes the analyst's parcel from a file. It is checked whole before anything in it
// is used, and decides nothing.
func Take(ctx context.Context, dir, path string, opt Options) (Took, error) {
	var none Took
	s := &site.Site{Dir: dir}
	joining, err := s.Joining()
	if err != nil {
		return none, err
	}
	if !s.Joined() && joining == nil {
		_, err := siteIn(dir)
		return none, err
	}
	unlock, err := s.Lock()
	if err != nil {
		return none, err
	}
	defer unlock()
	id, err := s.Identity()
	if err != nil {
		return none, err
	}
	f, size, err := parcel.OpenFile(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	c, err := openParcel(f, size, s, joining, id)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	if !s.Joined() {
		contract, err := takeContract(s, joining, c)
		if err != nil {
			return none, fmt.Errorf("%s: %w", path, err)
		}
		(&Visit{opt: opt}).tell(event.ContractCame{Contract: contract})
	}
	if err := s.SetByFile(true); err != nil {
		return none, err
	}
	v, err := Open(dir, Looking, opt) // the lock is ours
	if err != nil {
		return none, err
	}
	defer v.End()
	t, err := v.takeNews(ctx, c)
	if err != nil {
		return t, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// takeNews keeps what a parcel says and brings.
func (v *Visit) takeNews(ctx context.Context, c *parcel.Parcel) (Took, error) {
	var t Took
	for _, kind := range c.Unknown() {
		v.tell(event.UnknownItem{Kind: kind})
	}
	before, err := v.site.Taken()
	if err != nil {
		return t, err
	}
	if before != nil && c.Number < before.Number {
		v.tell(event.ParcelOlder{Number: c.Number})
		return Took{Older: true}, nil
	}
	news := &site.Taken{Number: c.Number, Bundles: []api.BundleInfo{}}
	if news.Roster, err = decoded[api.Roster](c, parcel.KindRoster, api.MaxRosterBytes); err != nil {
		return t, err
	}
	if news.Status, err = decoded[api.Status](c, parcel.KindStatus, api.MaxMessageBytes); err != nil {
		return t, err
	}
	if news.Status != nil {
		printable(news.Status)
	}
	v.tell(event.ParcelTaken{Number: c.Number})
	if err = v.followTaken(news); err != nil {
		return t, err
	}
	if news.Roster != nil {
		if err := v.noteWitness(news.Roster.Witness); err != nil {
			return t, err
		}
	}
	for i, it := range c.Items {
		switch it.Kind {
		case parcel.KindReceipt:
			err = v.takeReceipt(c, i)
		case parcel.KindBundle:
			err = v.takeBundle(news, c, i)
		}
		if err != nil {
			return t, err
		}
	}
	if news.Left, err = decoded[api.AmendResponse](c, parcel.KindLeft, 2*member.MaxWithdrawalBytes); err != nil {
		return t, err
	}
	if err := v.site.PutTaken(news); err != nil {
		return t, err
	}
	if t.Left, err = v.takeLeave(ctx, news); err != nil {
		return t, err
	}
	if err := v.forgetSent(); err != nil {
		return t, err
	}
	for _, b := range news.Bundles {
		switch b.Kind {
		case bundle.KindSetup:
			t.Shares++
		case bundle.KindPool:
			t.Messages++
		case bundle.KindResult:
			t.Result++
		}
	}
	t.HasLeft, t.Status = news.Left != nil, news.Status
	if !t.HasLeft && t.Status != nil {
		t.Turn = v.turn(*t.Status, news.Bundles)
	}
	return t, nil
}

// takeReceipt keeps the receipt for a bundle that this site has sent.
func (v *Visit) takeReceipt(c *parcel.Parcel, i int) error {
	raw, err := c.Bytes(i, member.MaxReceiptBytes)
	if err != nil {
		return err
	}
	receipt, err := member.DecodeReceipt(raw, v.analyst)
	if err != nil {
		return err
	}
	kinds, err := v.sealedKinds()
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		if v.site.Sent(kind) || !v.site.Has("outbox", kind+".bundle") {
			continue
		}
		switch matches, err := v.receiptFor(kind, receipt); {
		case err != nil:
			return err
		case matches:
			v.tell(event.ReceiptCame{Name: kind})
			if err := v.putReceipt(kind, receipt); err != nil || kind != bundle.KindAdmission {
				return err
			}
			m, err := v.loadManifest(kind)
			if err != nil {
				return err
			}
			return v.closeAdmission(v.site.Path("receipts", kind+"-"+v.Chain.Origin(m.Recipients[0]).String()+".json"))
		}
	}
	return nil // of a bundle whose receipt is here already
}

// followTaken follows what the analyst's parcel says of the roster that people here
// confirmed; the site may have new keys then. A parcel that does not follow from what this
// site has followed is refused; of a new roster that people must confirm they hear from the
// next command.
func (v *Visit) followTaken(news *site.Taken) error {
	r := news.Roster
	if v.Chain == nil || r == nil || !r.Closed || r.Number != v.Chain.Root().Number {
		return nil
	}
	err := v.followAnswer(*r)
	var waiting *wire.Waiting
	if errors.As(err, &waiting) {
		return nil // it was written before this site heard more over the network
	}
	if err != nil {
		return err
	}
	request, err := v.site.Request()
	if err != nil {
		return err
	}
	if request != nil && v.Chain.At(request.To) != nil {
		if err := v.site.ForgetRequest(); err != nil {
			return err
		}
	}
	before := v.Own()
	if err = v.load(); err == nil && v.Own() != before {
		v.tell(event.KeysTaken{Fingerprint: v.Own()})
	}
	return err
}

// takeLeave ends the study where this site has left it and the receipt is here.
func (v *Visit) takeLeave(ctx context.Context, news *site.Taken) (*Withdrawal, error) {
	a, err := v.site.Withdrawal()
	if err != nil || a == nil || news.Left == nil || v.site.Has(site.WithdrawnFile) {
		return nil, err
	}
	box, err := post.NewBox(v.site)
	if err != nil {
		return nil, err
	}
	w, err := v.sendWithdrawal(ctx, box, a)
	return &w, err
}
