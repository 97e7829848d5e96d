package concord

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
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/cli"
	"concord/internal/client"
	"concord/internal/post"
	"concord/internal/site"
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

// flag is what a note says. It has no room for a figure.
type flag struct {
	Format  int    `json:"format"`
	Feature string `json:"feature"`
	// Says is what is said of the feature: that its unit seems to differ.
	Says string `json:"says"`
	// Blind is random hexadecimal. The envelope, which the analyst has, names the manifest by its
	// SHA-256, and without it only as many notes are possible as the contract has features.
	Blind string `json:"blind,omitempty"`
}

// blinded is the encoding of a note as it leaves: of flagBytes, and like no other.
func (f flag) blinded() ([]byte, error) {
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

// sentence is what people read. It does not say at which site, nor in which direction.
func (f flag) sentence() string {
	return fmt.Sprintf("compare the unit and the coding of %s with the contract's: one of the sites seems to differ", wire.Printable(f.Feature))
}

// heardFlag is a note of another party, as it is kept here; why it was of no use, if it was.
type heardFlag struct {
	flag
	From    wire.Hash `json:"from"`
	Refused string    `json:"refused,omitempty"`
}

func (p *program) poolFlagCommand() *cobra.Command {
	var key string
	var yes bool
	cmd := p.byFile(&cobra.Command{
		Use:   "flag FEATURE",
		Short: "Tell the other parties that a unit seems to differ, by the exchange",
		Long: `Sends all other parties a note of one sentence, sealed to them: to compare the unit and
the coding of a feature with the contract's. It names the feature, and neither a site nor a
figure. concord check says which features seem to differ. The others read the note with
concord sync and concord status. The analyst, who passes it on, cannot read it, and sees
that something was sent. A site can send eight.

Asks for a yes, unless --yes is given.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.sendFlag(cmd.Context(), args[0], key, yes)
		},
	}, true)
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&key, "key", "", "the approver's private key, where this site joined with an approver")
	return cmd
}

// sendFlag tells the others of a feature.
func (p *program) sendFlag(ctx context.Context, feature, keyFile string, yes bool) error {
	v, unlock, err := p.changeConfirmed()
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case !v.pools():
		return cli.Usagef("this study pools no figures by which units could be compared")
	case v.late():
		return wire.WithHint(errors.New("this site came after setup and has no part in the masked sums"), "tell the others by the way on which the phrase was compared")
	case !slices.Contains(v.whole.FeatureNames(), feature):
		return wire.WithHint(fmt.Errorf("the contract has no feature %q", wire.Printable(feature)), "concord check names those that seem to differ")
	}
	f := flag{Format: 1, Feature: feature, Says: flagUnit}
	name, sent, err := v.placeForFlag(f)
	if err != nil {
		return err
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if !sent {
		if err := p.approveFlag(v, f, name, keyFile, yes); err != nil {
			return err
		}
	}
	return p.sendMessage(ctx, v, c, name, "note")
}

// placeForFlag is the name of the note that says f, and whether it is approved already.
func (v *visit) placeForFlag(f flag) (name string, approved bool, err error) {
	for number := 1; number <= api.PoolFlags; number++ {
		name := site.PoolName(api.PoolFlagRound, number)
		if ok, err := v.readyApproved(name); err != nil || !ok {
			return name, false, err
		}
		b, err := os.ReadFile(v.site.Leaves(name, flagMember))
		if err != nil {
			return "", false, err
		}
		if said, err := parseFlag(b, v.whole.FeatureNames()); err == nil && said == f {
			return name, true, nil
		}
	}
	return "", false, wire.WithHint(fmt.Errorf("this site has sent %d notes, which is all that a study takes", api.PoolFlags), "tell the others by the way on which the phrase was compared")
}

// approveFlag shows a note, asks, and makes its approved draft.
func (p *program) approveFlag(v *visit, f flag, name, keyFile string, yes bool) error {
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	_, number, _ := site.ParsePoolName(name)
	h := v.poolHeader(api.PoolFlagRound, number)
	if len(h.Recipients) == 0 {
		return errors.New("no other party is left in the roster")
	}
	p.printf("a note to %s, sealed to them:\n  %s\n", v.partyNames(h.Recipients), wrapped(f.sentence(), 2, 100))
	if !yes {
		p.printf("type yes to send it: ")
		answer, err := p.in.ReadString('\n')
		if err != nil {
			p.printf("\n")
		}
		if strings.ToLower(strings.TrimSpace(answer)) != "yes" {
			return wire.WithHint(errors.New("nothing was sent"), "run the command again and type yes, or give --yes")
		}
	}
	b, err := f.blinded()
	if err != nil {
		return err
	}
	if err := v.site.MakePool(); err != nil {
		return err
	}
	m, err := v.putNamed(name, bundle.Draft{Header: h, Members: []bundle.Source{bundle.FromBytes(flagMember, b)}}, nil, func(string, *bundle.Manifest) error { return nil })
	if err != nil {
		return err
	}
	return v.approveDraft(name, m, key, bundle.PolicyPerson)
}

// flags sends the notes that were approved and have not left, and fetches the others'. One that
// the server refuses stops nothing else: of a folder from an old copy, which does not know
// that it has sent another under the number.
func (p *program) flags(ctx context.Context, v *visit, c post.Post) error {
	if !v.pools() || v.late() || v.site.Closed() {
		return nil
	}
	for number := 1; number <= api.PoolFlags; number++ {
		name := site.PoolName(api.PoolFlagRound, number)
		ok, err := v.readyApproved(name)
		if err == nil && ok {
			err = p.sendMessage(ctx, v, c, name, "note")
		}
		var refusal *client.Refusal
		if errors.As(err, &refusal) {
			p.printf("! %s did not leave: %s\n", named(name), wire.Printable(refusal.Error()))
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
		from, err := v.chain.Root().Member(v.chain.Origin(info.Sender))
		if err != nil {
			continue // not of those who sum
		}
		if err := p.takeFlag(ctx, v, c, from, info); err != nil {
			return err
		}
	}
	return nil
}

func flagFile(number int, from wire.Hash) string {
	return fmt.Sprintf("flag-%d-%s.json", number, from)
}

// takeFlag fetches a note, once, and says what it says. One that is of no use is kept as
// such.
func (p *program) takeFlag(ctx context.Context, v *visit, c post.Post, from *identity.Statement, info api.BundleInfo) error {
	name := flagFile(info.Number, from.Fingerprint())
	if known, err := v.site.ReadPool(name); known != nil || err != nil {
		return err
	}
	heard := heardFlag{From: from.Fingerprint()}
	reader, closeFile, err := v.fetch(ctx, c, from, info, api.MaxSetupBytes)
	if err == nil {
		var b []byte
		if b, err = reader.Bytes(flagMember, maxFlagBytes); err == nil {
			heard.flag, err = parseFlag(b, v.whole.FeatureNames())
		}
		err = errors.Join(err, closeFile())
		if err != nil {
			heard = heardFlag{From: from.Fingerprint(), Refused: err.Error()}
		}
	} else if !refusedBundle(err) {
		return err
	}
	if err != nil {
		p.printf("! a note of %q is of no use: %s\n", from.Name, wire.Printable(err.Error()))
		if heard.Refused == "" {
			return nil // damaged on its way; it may come whole another time
		}
	} else {
		p.printf("! %s\n", wrapped(v.heardInWords(heard), 2, 100))
	}
	b, err := json.Marshal(heard)
	if err != nil {
		return err
	}
	return v.site.PutPool(name, append(b, '\n'))
}

// parseFlag reads a note, which can name features of the contract only. What it says is
// returned, without the blind.
func parseFlag(b []byte, features []string) (flag, error) {
	var f flag
	if err := wire.CheckFormat(b, "the note", 1); err != nil {
		return f, err
	}
	if err := wire.DecodeCanonical(b, &f); err != nil {
		return f, err
	}
	if f.Format != 1 || f.Says != flagUnit || !slices.Contains(features, f.Feature) {
		return flag{}, errors.New("it is of no feature of the contract, or says what this program does not know")
	}
	f.Blind = ""
	return f, nil
}

// heardFlags are the notes that came.
func (v *visit) heardFlags() ([]heardFlag, error) {
	files, err := filepath.Glob(v.site.Pool("flag-*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []heardFlag
	for _, path := range files {
		b, err := v.site.ReadPool(filepath.Base(path))
		if err != nil {
			return nil, err
		}
		var f heardFlag
		if err := json.Unmarshal(b, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if f.Refused == "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// heardInWords says who says what.
func (v *visit) heardInWords(f heardFlag) string {
	return fmt.Sprintf("%q asks all sites: %s; concord check data.csv says how this site's figures lie to the others'", v.partyNames([]wire.Hash{f.From}), f.sentence())
}

// quoted is a name as it is typed in a shell.
func quoted(name string) string {
	if strings.IndexFunc(name, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r))
	}) < 0 && name != "" {
		return name
	}
	return "'" + strings.ReplaceAll(wire.Printable(name), "'", `'\''`) + "'"
}
