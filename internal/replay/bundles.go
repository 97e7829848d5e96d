package replay

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/internal/auditlog"
	"concord/internal/dossier"
	"concord/member"
	"concord/wire"
)

// section opens a member for one reading.
func (r *replay) section(name string) (io.ReadCloser, error) {
	f, err := r.d.Open(name)
	return io.NopCloser(f), err
}

// lineSaid takes in what a party signed on an envelope line.
func (r *replay) lineSaid(l *auditlog.Log, name string) error {
	f, err := r.d.Open(name)
	if err != nil {
		return err
	}
	env, _, err := bundle.ReadEnvelope(f)
	if err != nil {
		return err
	}
	if err := r.signed(env); err != nil {
		return err
	}
	l.Envelope(env.Heads, env.Sender, env.Kind)
	return nil
}

// signed checks that somebody who took part signed a line of this study.
func (r *replay) signed(env *bundle.Envelope) error {
	s := r.person(env.Sender)
	if s == nil {
		return fmt.Errorf("its sender %s took no part", env.Sender.Short())
	}
	if env.Study != r.Study {
		return fmt.Errorf("it is of study %s", env.Study.Short())
	}
	return env.Verify(s.SigningKey)
}

// witnessSaid takes in a party's word on both logs.
func (r *replay) witnessSaid(l *auditlog.Log, name string) error {
	b, err := r.d.Bytes(name, member.MaxWitnessBytes)
	if err != nil {
		return err
	}
	for _, s := range r.people {
		if w, err := member.DecodeWitness(b, s); err == nil && w.Study == r.Study {
			l.Witness(w)
			return nil
		}
	}
	return errors.New("nobody who took part signed it")
}

func (r *replay) receipt(name string) (*member.Receipt, error) {
	b, err := r.d.Bytes(name, member.MaxReceiptBytes)
	if err != nil {
		return nil, err
	}
	receipt, err := member.DecodeReceipt(b, r.analyst)
	if err == nil && receipt.Study != r.Study {
		err = fmt.Errorf("it is of study %s", receipt.Study.Short())
	}
	return receipt, err
}

// bundles checks what parties sent: its line, and that the analyst acknowledged
// exactly that. Contributions are opened when they are computed with.
func (r *replay) bundles() error {
	if err := r.d.JSON(dossier.Deleted, 64<<20, &r.gone); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, f := range r.d.Index.Files {
		dir, rest, _ := strings.Cut(f.Name, "/")
		kind := map[string]string{"setup": bundle.KindSetup, "contributions": bundle.KindContribution, "results": bundle.KindResult}[dir]
		if kind == "" {
			continue
		}
		env, err := r.envelope(f.Name, kind, rest)
		if err != nil {
			r.add(Differ, "%s: %v", f.Name, err)
			continue
		}
		r.envelopes[env.Manifest] = env
		counts[kind]++
		if kind == bundle.KindResult {
			continue
		}
		if err := r.acknowledged(env); err != nil {
			r.add(Differ, "the %s of %q: %v", env.Kind, r.name(env.Sender), err)
		}
	}
	r.add(OK, "%d bundles between parties and %d contributions with their receipts, %d results; what parties sealed for each other only they can read",
		counts[bundle.KindSetup], counts[bundle.KindContribution], counts[bundle.KindResult])
	return nil
}

func (r *replay) envelope(name, kind, rest string) (*bundle.Envelope, error) {
	f, err := r.d.Open(name)
	if err != nil {
		return nil, err
	}
	env, line, err := bundle.ReadEnvelope(f)
	if err != nil {
		return nil, err
	}
	if err := r.signed(env); err != nil {
		return nil, err
	}
	hash, _, _ := strings.Cut(rest, ".")
	switch {
	case env.Kind != kind && (kind != bundle.KindSetup || env.Kind != bundle.KindAdmission && env.Kind != bundle.KindPool) || env.Manifest.String() != hash:
		return nil, fmt.Errorf("it is a %s of manifest %s", env.Kind, env.Manifest.Short())
	case r.chain.At(env.Epoch) == nil:
		return nil, r.chain.CheckEpoch(env.Epoch)
	case kind == bundle.KindResult && env.Sender != r.Fingerprint:
		return nil, fmt.Errorf("it is by %q, not by the analyst", r.name(env.Sender))
	case kind != bundle.KindSetup && f.Size() != int64(len(line))+env.Size:
		return nil, fmt.Errorf("it has %d bytes, its line says %d", f.Size(), int64(len(line))+env.Size)
	}
	return env, nil
}

func (r *replay) acknowledged(env *bundle.Envelope) error {
	receipt, err := r.receipt(dossier.Name(dossier.ReceiptOf, env.Manifest))
	if err != nil {
		return err
	}
	if receipt.Manifest != env.Manifest || receipt.Ciphertext != env.Ciphertext || receipt.Sender != env.Sender || receipt.Epoch != env.Epoch {
		return errors.New("the analyst's receipt is for another bundle")
	}
	return nil
}

// told compares the audit log with what is here: nothing that it tells of may be
// missing without its deletion being told of too.
func (r *replay) told() {
	wrong := 0
	for _, e := range r.entries {
		if e.Kind != audit.Received && e.Kind != audit.Released || e.Manifest.IsZero() {
			continue
		}
		env := r.envelopes[e.Manifest]
		_, deleted := r.deleted(e.Manifest)
		switch {
		case env == nil && !deleted && !r.given(e):
			r.add(Differ, "entry %d of the audit log tells of manifest %s, which is not here and was not deleted", e.Number, e.Manifest.Short())
			wrong++
		case env != nil && e.Kind == audit.Received && env.Sender != e.Party:
			r.add(Differ, "entry %d of the audit log says that manifest %s is of %q", e.Number, e.Manifest.Short(), r.name(e.Party))
			wrong++
		}
	}
	for manifest, env := range r.envelopes {
		if !slices.ContainsFunc(r.entries, func(e audit.Entry) bool { return e.Manifest == manifest }) && !r.lateLog() {
			r.add(Differ, "the audit log does not tell of the %s of manifest %s", env.Kind, manifest.Short())
			wrong++
		}
	}
	if wrong == 0 && len(r.entries) > 0 {
		r.add(OK, "the audit log tells of every bundle here, and nothing that it tells of is missing")
	}
}

// given says whether an entry's bundle is of a roster that was given up before setup
// was complete: what was sent under it was deleted.
func (r *replay) given(e audit.Entry) bool { return r.chain.At(e.Epoch) == nil }

// lateLog says whether the log began in the middle of the study.
func (r *replay) lateLog() bool { return len(r.entries) > 0 && r.entries[0].Kind == audit.Begun }

// deleted says when the bundle with a manifest was deleted: as the list of deleted
// bundles says, or the audit log.
func (r *replay) deleted(manifest wire.Hash) (when string, yes bool) {
	for _, e := range r.entries {
		if e.Kind == audit.Removed && e.Manifest == manifest {
			return e.Time.Format(time.RFC3339), true
		}
	}
	for _, g := range r.gone {
		if g.Manifest == manifest {
			return g.Deleted, true
		}
	}
	return "", false
}
