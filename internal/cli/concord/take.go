package concord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/parcel"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/release"
	"concord/wire"
)

func (p *program) takeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "take FILE",
		Short: "Take the file that the analyst gave for this site",
		Long: `Takes a parcel that concordd give wrote for this site: the contract, who takes
part, how far the study is, receipts, bundles sealed to this site. Nothing is
decided by it: concord roster, roster confirm, sync and receive go on from what it
brought, without a connection.

A parcel is checked whole before anything in it is used. One for another site or
study, from somebody else, cut off or changed on its way is refused; taking one
twice, or an older one after a newer one, changes nothing.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.take(cmd.Context(), args[0]) },
	}
}

func (p *program) take(ctx context.Context, path string) error {
	s := &site.Site{Dir: p.dir}
	joining, err := s.Joining()
	if err != nil {
		return err
	}
	if !s.Joined() && joining == nil {
		_, err := p.site()
		return err
	}
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	id, err := s.Identity()
	if err != nil {
		return err
	}
	f, size, err := parcel.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	c, err := openParcel(f, size, s, joining, id)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !s.Joined() {
		if err := p.takeContract(s, joining, c); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := s.SetByFile(true); err != nil {
		return err
	}
	v, err := p.open()
	if err != nil {
		return err
	}
	if err := p.takeNews(ctx, v, c); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// openParcel opens a parcel that is the analyst's, for this site and study. Everything
// in it is the analyst's word when it returns.
func openParcel(f *os.File, size int64, s *site.Site, joining *site.Joining, id *identity.Identity) (*parcel.Parcel, error) {
	hash, analyst := wire.Hash{}, wire.Hash{}
	if s.Joined() {
		conn, err := s.Connection()
		if err != nil {
			return nil, err
		}
		statement, err := s.Analyst()
		if err != nil {
			return nil, err
		}
		hash, analyst = conn.Study, statement.Fingerprint()
	} else {
		hash, analyst = joining.Study, joining.Analyst
	}
	c, err := parcel.Open(f, size)
	if err != nil {
		return nil, err
	}
	next, err := s.Next()
	if err != nil {
		return nil, err
	}
	if next != nil && next.Statement.Fingerprint() == c.To {
		id = next // the answer to a re-key
	}
	own := id.Statement.Fingerprint()
	switch {
	case c.Head.Parcel != parcel.Analyst:
		return nil, wire.WithHint(errors.New("the parcel is from a site to the analyst"), "the analyst takes it with concordd take")
	case c.Study != hash:
		return nil, wire.WithHint(fmt.Errorf("the parcel is of study %s, this folder takes part in %s", c.Study.Short(), hash.Short()), "name the other study's folder with --dir")
	case c.From != analyst:
		return nil, wire.WithHint(fmt.Errorf("the parcel is from %s, the analyst of this study is %s", c.From.Short(), analyst.Short()), "do not use it; ask the analyst")
	case c.To != own:
		return nil, wire.WithHint(fmt.Errorf("the parcel is for the site %s, this one is %s", c.To.Short(), own.Short()), "take the file that the analyst gave for this site")
	}
	if err := c.Unseal(id.AgeIdentity()); err != nil {
		return nil, err
	}
	sender, err := c.Statement()
	if err != nil {
		return nil, err
	}
	if sender.Role != identity.RoleAnalyst {
		return nil, errors.New("the parcel's sender is no analyst")
	}
	return c, c.Verify(sender.SigningKey)
}

// takeContract makes the site from the answer to its request to join.
func (p *program) takeContract(s *site.Site, joining *site.Joining, c *parcel.Parcel) error {
	raw, err := c.One(parcel.KindContract, contract.MaxBytes)
	if err != nil {
		return err
	}
	if wire.HashOf(raw) != joining.Study {
		return errors.New("the parcel does not hold the contract that the invite names")
	}
	agreed, err := contract.Decode(raw)
	if err != nil {
		return err
	}
	analyst, err := c.Statement()
	if err != nil {
		return err
	}
	id, err := s.Identity()
	if err != nil {
		return err
	}
	v := &visit{site: s, id: id, study: joining.Study}
	if err := v.noteJoined(joining.Analyst); err != nil {
		return err
	}
	if err := s.PutJoined(joining.Connection, analyst, raw); err != nil {
		return err
	}
	p.printf("%s\n\n", release.Describe(agreed))
	return nil
}

// takeNews keeps what a parcel says and brings.
func (p *program) takeNews(ctx context.Context, v *visit, c *parcel.Parcel) error {
	for _, kind := range c.Unknown() {
		p.printf("note: the parcel also holds something of kind %s, which this version of concord does not know\n", kind)
	}
	before, err := v.site.Taken()
	if err != nil {
		return err
	}
	when := numberTime(c.Number)
	if before != nil && c.Number < before.Number {
		p.printf("this parcel, of %s, is older than one that was taken before; nothing changes\n", when)
		return nil
	}
	news := &site.Taken{Number: c.Number, Bundles: []api.BundleInfo{}}
	if news.Roster, err = decoded[api.Roster](c, parcel.KindRoster, api.MaxRosterBytes); err != nil {
		return err
	}
	if news.Status, err = decoded[api.Status](c, parcel.KindStatus, api.MaxMessageBytes); err != nil {
		return err
	}
	if news.Status != nil {
		printable(news.Status)
	}
	p.printf("took the analyst's parcel of %s UTC\n", when)
	if v, err = p.followTaken(v, news); err != nil {
		return err
	}
	if news.Roster != nil {
		if err := v.noteWitness(news.Roster.Witness); err != nil {
			return err
		}
	}
	for i, it := range c.Items {
		switch it.Kind {
		case parcel.KindReceipt:
			err = p.takeReceipt(v, c, i)
		case parcel.KindBundle:
			err = v.takeBundle(news, c, i)
		}
		if err != nil {
			return err
		}
	}
	if news.Left, err = decoded[api.AmendResponse](c, parcel.KindLeft, 2*member.MaxWithdrawalBytes); err != nil {
		return err
	}
	if err := v.site.PutTaken(news); err != nil {
		return err
	}
	if err := p.takeLeave(ctx, v, news); err != nil {
		return err
	}
	if err := v.forgetSent(); err != nil {
		return err
	}
	p.sayTaken(v, news)
	return nil
}

// numberTime shows a parcel's number as the time that it is.
func numberTime(number int64) string { return time.Unix(number, 0).UTC().Format("2006-01-02 15:04:05") }

// decoded reads the only item of a kind, which is JSON; nil if there is none.
func decoded[T any](c *parcel.Parcel, kind string, most int64) (*T, error) {
	b, err := c.One(kind, most)
	if b == nil || err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("the parcel's %s is not the JSON that was expected; is it of a Concord of the same version?", kind)
	}
	return v, nil
}

// printable makes a status safe to show.
func printable(st *api.Status) {
	st.State = api.State(wire.Printable(string(st.State)))
	st.Problem = wire.Printable(st.Problem)
	for _, names := range [][]string{st.WaitingFor, st.Asking, st.Pending} {
		for i, name := range names {
			names[i] = wire.Printable(name)
		}
	}
}

// takeReceipt keeps the receipt for a bundle that this site has sent.
func (p *program) takeReceipt(v *visit, c *parcel.Parcel, i int) error {
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
			p.printf("  the analyst has this site's %s\n", strings.TrimPrefix(v.sealedName(kind), "the "))
			if err := v.putReceipt(kind, receipt); err != nil || kind != bundle.KindAdmission {
				return err
			}
			m, err := v.loadManifest(kind)
			if err != nil {
				return err
			}
			return v.closeAdmission(v.site.Path("receipts", kind+"-"+v.chain.Origin(m.Recipients[0]).String()+".json"))
		}
	}
	return nil // of a bundle whose receipt is here already
}

// takeBundle keeps a bundle for this site, under the hash of its manifest. What is in
// it is checked by whoever opens it.
func (v *visit) takeBundle(news *site.Taken, c *parcel.Parcel, i int) error {
	size := c.Items[i].Bytes
	env, _, err := bundle.ReadEnvelope(c.Reader(i))
	if err != nil {
		return err
	}
	parties := v.contract.Parties
	if v.chain != nil {
		parties = len(v.chain.Root().Members)
	}
	most := max(maxResultBytes(v.contract), api.AdmissionBytes(v.contract, parties), api.PoolBytes(v.whole))
	if size > most {
		return fmt.Errorf("the parcel's %s bundle has %d bytes, at most %d are taken in this study", env.Kind, size, most)
	}
	if !slices.ContainsFunc(env.Recipients, v.mine) || env.Study != v.study {
		return fmt.Errorf("the parcel's %s bundle is for somebody else", env.Kind)
	}
	if (env.Kind == bundle.KindSetup || env.Kind == bundle.KindPool) && v.site.Closed() {
		return nil // the study has ended here, and shares of the anchor are gone
	}
	if slices.ContainsFunc(news.Bundles, func(b api.BundleInfo) bool { return b.Manifest == env.Manifest }) {
		return fmt.Errorf("the parcel holds the bundle of manifest %s twice", env.Manifest.Short())
	}
	info := api.BundleInfo{Manifest: env.Manifest, Sender: env.Sender, Kind: env.Kind, Size: size, Epoch: env.Epoch, Round: env.Round}
	if env.Kind == bundle.KindPool {
		info.Number = env.Number
	}
	news.Bundles = append(news.Bundles, info)
	return v.site.PutPosted(env.Manifest, c.Reader(i))
}

// followTaken follows what the analyst's parcel says of the roster that people here
// confirmed, and returns the site as it is then: it may have new keys. A parcel that does
// not follow from what this site has followed is refused; of a new roster that people must
// confirm they hear from the next command.
func (p *program) followTaken(v *visit, news *site.Taken) (*visit, error) {
	r := news.Roster
	if v.chain == nil || r == nil || !r.Closed || r.Number != v.chain.Root().Number {
		return v, nil
	}
	err := p.followAnswer(v, *r)
	var waiting *wire.Waiting
	if errors.As(err, &waiting) {
		return v, nil // it was written before this site heard more over the network
	}
	if err != nil {
		return nil, err
	}
	request, err := v.site.Request()
	if err != nil {
		return nil, err
	}
	if request != nil && v.chain.At(request.To) != nil {
		if err := v.site.ForgetRequest(); err != nil {
			return nil, err
		}
	}
	before := v.own()
	if v, err = p.open(); err == nil && v.own() != before {
		p.printf("this site has new keys, fingerprint %s\n", v.own().Short())
	}
	return v, err
}

// takeLeave ends the study where this site has left it and the receipt is here.
func (p *program) takeLeave(ctx context.Context, v *visit, news *site.Taken) error {
	a, err := v.site.Withdrawal()
	if err != nil || a == nil || news.Left == nil || v.site.Has(site.WithdrawnFile) {
		return err
	}
	box, err := post.NewBox(v.site)
	if err != nil {
		return err
	}
	return p.sendWithdrawal(ctx, v, box, a)
}

// sayTaken says how far the study is and what comes next.
func (p *program) sayTaken(v *visit, news *site.Taken) {
	counts := map[string]int{}
	for _, b := range news.Bundles {
		counts[b.Kind]++
	}
	if n := counts[bundle.KindSetup]; n > 0 {
		p.printf("  %d of the other parties' shares of the anchor\n", n)
	}
	if n := counts[bundle.KindPool]; n > 0 {
		p.printf("  %d messages of masked sums\n", n)
	}
	if counts[bundle.KindResult] > 0 {
		p.printf("  this site's result\n")
	}
	if news.Left != nil {
		return
	}
	if news.Status == nil {
		p.printf("the analyst has not let this site in yet; take a newer parcel\n")
		return
	}
	st := *news.Status
	p.printf("the study is at %s, %d of %d parties have joined\n", st.State, st.Present, st.Expected)
	if st.Problem != "" {
		p.printf("problem: %s\n", st.Problem)
	}
	if next := v.next(st); next != "" {
		p.printf("next: %s\n", next)
	} else if len(st.WaitingFor) > 0 {
		p.printf("waiting for %s; then take a newer parcel\n", strings.Join(st.WaitingFor, ", "))
	}
}
