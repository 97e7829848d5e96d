package visit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"concord/bundle"
	"concord/internal/site"
	"concord/party"
	"concord/wire"
)

// prepared is this site's signed word on what prepare made: that report and source
// belong to this manifest. Without it a report about other rows, or one with other
// figures, could lie beside the files that a person or a policy approves. It keeps
// out whoever may write in the folder and has not the site's key, and mistakes; who
// has the key can sign anything.
type prepared struct {
	Manifest  wire.Hash `json:"manifest"`
	Report    wire.Hash `json:"report"` // SHA-256 of the files
	Source    wire.Hash `json:"source"`
	Signature []byte    `json:"signature,omitempty"`
}

const (
	// preparedFile holds it, beside report and source.
	preparedFile = "prepared.json"
	// signPrepared is what its signature is for.
	signPrepared = "prepared"
)

func (w prepared) signedPart() []byte {
	w.Signature = nil
	b, err := json.Marshal(w)
	if err != nil {
		panic("concord: " + err.Error()) // hashes only
	}
	return b
}

// writePrepared signs the manifest and the report and source that lie in dir.
func (v *Visit) writePrepared(dir string, m *bundle.Manifest) error {
	w := prepared{Manifest: m.Hash()}
	for name, hash := range w.files() {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		*hash = wire.HashOf(b)
	}
	w.Signature = wire.Sign(v.ID.SigningKey(), signPrepared, w.signedPart())
	b, err := json.MarshalIndent(w, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, preparedFile), append(b, '\n'), draftPerm)
}

func (w *prepared) files() map[string]*wire.Hash {
	return map[string]*wire.Hash{reportFile: &w.Report, sourceFile: &w.Source}
}

// prepareAgain is the hint for a draft that cannot be used.
func (v *Visit) prepareAgain(kind string) string {
	switch {
	case kind == bundle.KindContribution:
		return "run concord prepare again"
	case site.KindOf(kind) == bundle.KindPool:
		return "run concord pool prepare again"
	case v.Contract.Anchor.Pieces():
		return "run concord piece prepare again"
	}
	return restoreFolder
}

// mayGetIt are who may get a bundle of one kind: the analyst a contribution, the other
// parties, as they were in an epoch, a piece of the anchor.
func (v *Visit) mayGetIt(kind string, epoch wire.Hash) []wire.Hash {
	if kind == bundle.KindContribution {
		return []wire.Hash{v.analyst.Fingerprint()}
	}
	return v.header(kind, v.othersIn(v.Chain.At(epoch))).Recipients
}

// rightRecipients reports whether a manifest is for those who may get a bundle of one
// kind; a message of masked sums is for those of the other parties that its set has.
func (v *Visit) rightRecipients(kind string, m *bundle.Manifest) bool {
	may := v.mayGetIt(site.KindOf(kind), m.Epoch)
	if site.KindOf(kind) != bundle.KindPool {
		return slices.Equal(m.Recipients, may)
	}
	return len(m.Recipients) > 0 && !slices.ContainsFunc(m.Recipients,
		func(r wire.Hash) bool { return !slices.Contains(may, r) })
}

// checkPrepared makes sure that manifest, report and source are those that prepare
// made here, for this study, this roster and these recipients.
func (v *Visit) checkPrepared(kind string, m *bundle.Manifest) error {
	again := func(format string, args ...any) error {
		return wire.WithHint(fmt.Errorf(format, args...), v.prepareAgain(kind))
	}
	path := v.site.Stays(kind, preparedFile)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return again("%s is missing", path)
	}
	if err != nil {
		return err
	}
	id, err := v.idIn(m.Epoch)
	if err != nil {
		return again("the prepared %s belongs to another contract or roster", Named(kind))
	}
	var w prepared
	if json.Unmarshal(b, &w) != nil || wire.Verify(id.Statement.SigningKey, signPrepared, w.signedPart(),
		w.Signature) != nil {
		return again("%s was changed", path)
	}
	if w.Manifest != m.Hash() {
		return again("the manifest %s was changed since it was prepared", v.site.Leaves(kind, manifestFile))
	}
	for name, hash := range w.files() {
		path := v.site.Stays(kind, name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return again("%s is missing", path)
		}
		if err != nil {
			return err
		}
		if wire.HashOf(b) != *hash {
			return again("%s was changed since it was prepared", path)
		}
	}
	if m.Kind != site.KindOf(kind) || m.Study != v.Study || !v.rightRecipients(kind, m) {
		return again("the prepared %s belongs to another contract or roster", Named(kind))
	}
	return nil
}

// report is what prepare found. Whoever calls it has called checkPrepared.
func (v *Visit) report(kind string) (party.Report, error) {
	return readReport[party.Report](v, kind)
}

// readReport reads what was found when the message of a name was prepared.
func readReport[T any](v *Visit, name string) (r T, err error) {
	path := v.site.Stays(name, reportFile)
	b, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// stillHolds is what must hold whenever something prepared is approved or sealed:
// prepare made it, its rows are as they were, and it keeps the floors of now: a site may
// have raised its own since.
func (v *Visit) stillHolds(name string, m *bundle.Manifest) error {
	if err := v.checkPrepared(name, m); err != nil {
		return err
	}
	if err := v.sourceUnchanged(name); err != nil {
		return err
	}
	floors, err := v.floors()
	if err != nil {
		return err
	}
	if site.KindOf(name) == bundle.KindPool {
		r, err := readReport[PoolReport](v, name)
		if err != nil {
			return err
		}
		return r.keeps(floors)
	}
	r, err := v.report(name)
	if err != nil {
		return err
	}
	return r.Keeps(v.Contract, floors)
}
