package concord

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/internal/parcel"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

func (p *program) giveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "give FILE",
		Short: "Write what this site has to say to the analyst into a file",
		Long: `Writes one file, a parcel, with everything that this site has to say and for which
no receipt has come: the request to join, the confirmation of the roster, the
approved share of the anchor, the approved and sealed contribution. Bring it to
the analyst, who runs concordd take, and take back what concordd give writes
(concord take). Giving again writes the same things again; nothing is lost when a
file is, and nothing happens twice when the analyst takes two.

The parcel is signed by this site and sealed to the analyst. Only a request to
join lies open: it holds this site's identity statement, which has its name and
public keys, and a proof that this site has the invite. Who reads it cannot join
with it.

--to FILE on join, roster confirm, sync, send, rekey and withdraw does the same after the command's
own work. From then on this site's commands open no connection, until one has
--online.`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return p.give(args[0]) },
	}
}

// byFile gives a command that would connect the choice to write a file instead.
func (p *program) byFile(cmd *cobra.Command, writes bool) *cobra.Command {
	var to string
	var online bool
	if writes {
		cmd.Flags().StringVar(&to, "to", "", "write a parcel for the analyst to this file instead of connecting (see concord give)")
	}
	cmd.Flags().BoolVar(&online, "online", false, "connect to the server from now on, after this site has exchanged files")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to == "" && !online {
			return run(cmd, args)
		}
		if to != "" && online {
			return cli.Usagef("--to writes a file and --online connects; give one of them")
		}
		if err := p.setByFile(to != ""); err != nil {
			return err
		}
		err := run(cmd, args)
		var waiting *wire.Waiting
		if online || err != nil && !errors.As(err, &waiting) {
			return err
		}
		return errors.Join(p.give(to), err)
	}
	return cmd
}

// setByFile says how this site reaches the analyst from now on. A site that does not
// exist yet learns it when it joins.
func (p *program) setByFile(yes bool) error {
	p.files = yes
	s := &site.Site{Dir: p.dir}
	if !s.Joined() {
		return nil
	}
	return s.SetByFile(yes)
}

// give writes this site's parcel.
func (p *program) give(path string) error {
	if err := p.checkTarget(path); err != nil {
		return err
	}
	s := &site.Site{Dir: p.dir}
	if !s.Joined() {
		if j, err := s.Joining(); err != nil {
			return err
		} else if j != nil {
			return p.giveJoin(s, j, path)
		}
	}
	v, unlock, err := p.change()
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.SetByFile(true); err != nil {
		return err
	}
	v.files = true
	items, what, err := v.toSay()
	if err != nil {
		return err
	}
	recipient, err := v.analyst.AgeRecipient()
	if err != nil {
		return err
	}
	head := parcel.Head{Parcel: parcel.Party, Study: v.study, From: v.own(), To: v.analyst.Fingerprint()}
	if err := p.writeParcel(path, head, items, v.id, recipient, what); err != nil {
		return err
	}
	p.printf("bring it to the analyst, who runs concordd take; then concord take what comes back\n")
	return nil
}

// giveJoin writes the parcel with which a site asks to take part.
func (p *program) giveJoin(s *site.Site, j *site.Joining, path string) error {
	unlock, err := s.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	id, err := s.Identity()
	if err != nil {
		return err
	}
	items := []parcel.Source{
		parcel.FromBytes(parcel.KindStatement, id.Statement.Encode()),
		parcel.FromBytes(parcel.KindProof, j.Proof),
	}
	head := parcel.Head{Parcel: parcel.Join, Study: j.Study, From: id.Statement.Fingerprint(), To: j.Analyst}
	return p.writeParcel(path, head, items, id, nil, []string{"the request to join"})
}

// toSay collects what this site has to say, and names it. What was approved and is
// not sealed yet is sealed by the command whose decision it is; the share of the anchor
// needs none after its approval.
func (v *visit) toSay() (items []parcel.Source, what []string, err error) {
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
		} else if pending != nil && v.chain.At(pending.Epoch) == nil {
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
			items, what = append(items, item), append(what, v.sealedName(kind))
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
	if err != nil || request == nil || v.chain == nil || v.chain.At(request.To) != nil || v.site.Has(site.WithdrawnFile) {
		return items, what, err
	}
	// The last item: after it the analyst knows this site by other keys, or not at all.
	return append(items, parcel.FromBytes(parcel.KindAmendment, request.Encode())), append(what, asked(request.Kind)+", signed"), nil
}

// sealedKinds are the names under which bundles may lie in the outbox.
func (v *visit) sealedKinds() ([]string, error) {
	pool, err := v.site.PoolMessages()
	return append(append([]string{bundle.KindSetup}, pool...), bundle.KindContribution, bundle.KindAdmission), err
}

// sealedName says what lies in the outbox under a name.
func (v *visit) sealedName(name string) string {
	if site.KindOf(name) == bundle.KindPool {
		return named(name)
	}
	return "the " + name + " bundle"
}

// asked names an amendment that a site asks for.
func asked(kind string) string {
	if kind == member.AmendRekey {
		return "this site's new keys"
	}
	return "this site's withdrawal"
}

// sealShare puts the approved share of the anchor into the outbox, once.
func (v *visit) sealShare() error {
	switch {
	case v.setupSent(), v.site.Has("outbox", bundle.KindSetup+".bundle"), !v.site.Has(bundle.KindSetup):
		return nil
	case v.contract.Anchor.Pieces():
		if waits, err := v.pieceWaits(); err != nil || waits != "" {
			return err
		}
		return v.sealPiece()
	}
	return v.sealDraft(bundle.KindSetup)
}

// writeParcel writes a parcel and says what is in it.
func (p *program) writeParcel(path string, head parcel.Head, items []parcel.Source, id *identity.Identity, recipient age.Recipient, what []string) error {
	head.Number = time.Now().Unix()
	hybrid, _ := recipient.(*age.HybridRecipient)
	var written *parcel.Head
	err := durable.Write(path, parcelPerm, func(f *os.File) (err error) {
		w := &watched{File: f, show: newTransfer(p.err).show}
		for _, it := range items {
			w.total += it.Bytes
		}
		written, err = parcel.Write(w, head, items, id.SigningKey(), hybrid)
		return err
	})
	if err != nil {
		return err
	}
	p.printf("wrote %s, %d bytes: %s\n", path, int64(len(written.Line()))+written.Size, strings.Join(what, ", "))
	return nil
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
	w.show("written", w.done, max(w.total, w.done))
	return n, err
}

// parcelPerm lets whoever carries the file read it: it is sealed.
const parcelPerm = 0o644

// checkTarget makes sure that a parcel takes no other file's place, and none in this
// site's folder.
func (p *program) checkTarget(path string) error {
	inside, err := within(filepath.Dir(path), p.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if inside {
		return cli.Usagef("%s lies in this site's own folder; name a file elsewhere", path)
	}
	ours, err := parcel.IsFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !ours {
		return wire.WithHint(fmt.Errorf("%s is there already and is no parcel; it was not replaced", filepath.Base(path)), "name another file")
	}
	return err
}
