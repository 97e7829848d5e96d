package visit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"concord/anchor"
	"concord/audit"
	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/site"
	"concord/masked"
	"concord/secret"
	"concord/wire"
)

// Members of a message of masked sums: its head, under the name of what it is, and the
// words of a ready message.
const (
	readyMember   = "ready.json"
	forwardMember = "forward.json"
	wordsMember   = "words.bin"
)

// firstForward is the number of the first message in a stage that passes on another's;
// below it are this site's own, in the order in which they were made.
const firstForward = api.PoolOwn + 1

// poolRound is this site's side of the sums of one stage, with what of it lies in the
// site's folder.
type poolRound struct {
	*masked.Round
	v     *Visit
	stage int
	kept  keptRound
}

// keptRound is the file of a stage that is under way. It changes only after what it
// says has been made, and before anything that it says leaves.
type keptRound struct {
	Format int `json:"format"`
	// State is masked.Round's.
	State []byte `json:"state"`
	// Taken are the names of received messages that are in the state.
	Taken []string `json:"taken"`
	// Refused are those that were of no use, and why.
	Refused map[string]string `json:"refused,omitempty"`
}

func stageFile(stage int) string { return fmt.Sprintf("stage-%d.secret", stage) }

func vectorFile(stage int) string { return fmt.Sprintf("vector-%d.secret", stage) }

func wordsFile(h wire.Hash) string { return h.String() + ".words" }

// poolConfig says what is summed in a stage, and by whom: all parties of the roster that
// people confirmed, with the keys that they had then, whatever keys they have now. A later
// stage begins with those whose sums the stage before has.
func (v *Visit) poolConfig(stage int) (masked.Config, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return masked.Config{}, err
	}
	statistics, err := pool.Statistics(v.Whole.Stages()[stage-1])
	if err != nil {
		return masked.Config{}, err
	}
	without, err := v.leftBefore(stage)
	if err != nil {
		return masked.Config{}, err
	}
	return masked.Config{
		Study: v.Study, Epoch: v.Chain.Setup(), Stage: stage, Parties: v.Chain.Root().Parties(), Without: without,
		Colluders: v.Whole.Pooling.Colluders, Holders: v.holders(), Statistics: statistics,
	}, nil
}

// leftBefore are the parties that are not in the sums of the stage before, sorted.
func (v *Visit) leftBefore(stage int) ([]wire.Hash, error) {
	if stage == 1 {
		return nil, nil
	}
	b, err := v.site.ReadPool(sumsFile(stage - 1))
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	var head sumsHead
	if err := wire.DecodeCanonical(line, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", v.site.Pool(sumsFile(stage-1)), err)
	}
	var left []wire.Hash
	for _, s := range v.Chain.Root().Parties() {
		if h := s.Fingerprint(); !slices.Contains(head.Set, h) {
			left = append(left, h)
		}
	}
	slices.SortFunc(left, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) })
	return left, nil
}

// loadRound loads a stage, or begins it.
func (v *Visit) loadRound(stage int) (*poolRound, error) {
	config, err := v.poolConfig(stage)
	if err != nil {
		return nil, err
	}
	id, err := v.idIn(v.Chain.Setup())
	if err != nil {
		return nil, err
	}
	r := &poolRound{v: v, stage: stage}
	b, err := v.site.ReadPool(stageFile(stage))
	if err != nil {
		return nil, err
	}
	if b == nil {
		r.Round, err = masked.New(config, id)
		return r, err
	}
	if err := json.Unmarshal(b, &r.kept); err != nil {
		return nil, fmt.Errorf("%s: %w", v.site.Pool(stageFile(stage)), err)
	}
	if r.kept.Format != 1 {
		return nil, &wire.FormatError{What: v.site.Pool(stageFile(stage)), Theirs: r.kept.Format, Newest: 1}
	}
	r.Round, err = masked.Resume(config, id, secret.NewBytes(r.kept.State))
	if err != nil {
		return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Pool(stageFile(stage)), err),
			restoreFolder)
	}
	return r, nil
}

// keep makes the round's state durable.
func (r *poolRound) keep() error {
	r.kept.Format, r.kept.State = 1, r.State().Reveal()
	b, err := json.Marshal(r.kept)
	if err != nil {
		return err
	}
	return r.v.site.PutPool(stageFile(r.stage), append(b, '\n'))
}

// ready makes this site's masked message for the present set. Its words are on the disk
// before the state that names them.
func (r *poolRound) ready(v masked.Vector) error {
	if err := r.v.site.MakePool(); err != nil {
		return err
	}
	tmp := r.v.site.Pool("words")
	if err := durable.Write(tmp, draftPerm, func(f *os.File) error { return r.Ready(v, f) }); err != nil {
		return err
	}
	own := r.own()
	last := own[len(own)-1]
	if err := os.Rename(tmp, r.v.site.Pool(wordsFile(*last.Body))); err != nil {
		return err
	}
	if err := durable.SyncDir(filepath.Dir(tmp)); err != nil {
		return err
	}
	return r.keep()
}

// own are this site's messages in the order in which they were made: the i-th has number
// i + 1.
func (r *poolRound) own() []masked.Message { return r.Outbox() }

// mustApprove reports whether a message of this site needs an approval of its own: one
// that has this site's masked figures, or a note to the others. The rest follows from what
// was approved.
func mustApprove(m *bundle.Manifest) bool {
	_, note := m.Member(flagMember)
	return hasFigures(m) || note
}

// hasFigures reports whether a message has this site's masked figures.
func hasFigures(m *bundle.Manifest) bool {
	_, ok := m.Member(readyMember)
	return ok
}

// draftMessage writes the draft of a message, unless it is there.
func (r *poolRound) draftMessage(number int, member string, m masked.Message,
	stays func(dir string, m *bundle.Manifest) error) error {
	name := site.PoolName(r.stage, number)
	if r.v.site.HasDraft(name) {
		if known, err := r.v.loadManifest(name); err == nil {
			if in, ok := known.Member(member); ok && in.SHA256 == wire.HashOf(m.Head) {
				return nil
			}
		}
	}
	members := []bundle.Source{bundle.FromBytes(member, m.Head)}
	if m.Body != nil {
		members = append(members, bundle.FromFile(wordsMember, r.v.site.Pool(wordsFile(*m.Body))))
	}
	if stays == nil {
		stays = func(string, *bundle.Manifest) error { return nil }
	}
	if err := r.v.site.MakePool(); err != nil {
		return err
	}
	h := r.v.poolHeader(r.stage, number)
	if len(h.Recipients) == 0 {
		return errors.New("no other party is left in the roster")
	}
	_, err := r.v.putNamed(name, bundle.Draft{Header: h, Members: members}, nil, stays)
	return err
}

// poolHeader is the header of a message of masked sums: to all others that were in setup
// and have not left.
func (v *Visit) poolHeader(stage, number int) bundle.Header {
	var to []*identity.Statement
	for _, s := range v.Chain.Root().Parties() {
		if now := v.Chain.Present(s.Fingerprint()); now != nil && !v.Chain.Same(s.Fingerprint(), v.Own()) {
			to = append(to, now)
		}
	}
	h := v.header(bundle.KindPool, to)
	slices.SortFunc(h.Recipients, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) })
	h.Round, h.Number = stage, number
	return h
}

// openWords opens the words of a ready message.
func (r *poolRound) openWords(h wire.Hash) (io.ReadCloser, error) {
	return os.Open(r.v.site.Pool(wordsFile(h)))
}

// PartyNames names parties of the round for people.
func (v *Visit) PartyNames(parties []wire.Hash) string {
	var list []string
	for _, h := range parties {
		if s := v.Chain.Known(h); s != nil {
			list = append(list, s.Name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// notePooled enters in the audit log that the sums of a stage are known, under a name of them
// that says nothing without the parties' seed.
func (v *Visit) notePooled(stage int, name string, set []wire.Hash, sums wire.Hash) error {
	seed, ok, err := v.site.Seed()
	if err != nil {
		return err
	}
	if !ok {
		return wire.WithHint(errors.New("the anchor is not agreed yet"), "run concord sync")
	}
	return v.noteOnce(audit.Event{
		Kind: audit.Agreed, Epoch: v.Chain.Setup(), File: anchor.SumsID(seed, sums),
		Note: fmt.Sprintf("the sums of stage %d, %s, over %d parties; no one's own are in it", stage, name, len(set)),
	})
}
