package concord

import (
	"bytes"
	"context"
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
	"concord/internal/post"
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
	v     *visit
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

func stageFile(stage int) string   { return fmt.Sprintf("stage-%d.secret", stage) }
func vectorFile(stage int) string  { return fmt.Sprintf("vector-%d.secret", stage) }
func wordsFile(h wire.Hash) string { return h.String() + ".words" }

// poolConfig says what is summed in a stage, and by whom: all parties of the roster that
// people confirmed, with the keys that they had then, whatever keys they have now. A later
// stage begins with those whose sums the stage before has.
func (v *visit) poolConfig(stage int) (masked.Config, error) {
	pool, err := v.pooledSoFar()
	if err != nil {
		return masked.Config{}, err
	}
	statistics, err := pool.Statistics(v.whole.Stages()[stage-1])
	if err != nil {
		return masked.Config{}, err
	}
	without, err := v.leftBefore(stage)
	if err != nil {
		return masked.Config{}, err
	}
	return masked.Config{
		Study: v.study, Epoch: v.chain.Setup(), Stage: stage, Parties: v.chain.Root().Parties(), Without: without,
		Colluders: v.whole.Pooling.Colluders, Holders: v.holders(), Statistics: statistics,
	}, nil
}

// leftBefore are the parties that are not in the sums of the stage before, sorted.
func (v *visit) leftBefore(stage int) ([]wire.Hash, error) {
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
	for _, s := range v.chain.Root().Parties() {
		if h := s.Fingerprint(); !slices.Contains(head.Set, h) {
			left = append(left, h)
		}
	}
	slices.SortFunc(left, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) })
	return left, nil
}

// loadRound loads a stage, or begins it.
func (v *visit) loadRound(stage int) (*poolRound, error) {
	config, err := v.poolConfig(stage)
	if err != nil {
		return nil, err
	}
	id, err := v.idIn(v.chain.Setup())
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
		return nil, wire.WithHint(fmt.Errorf("%s: %w", v.site.Pool(stageFile(stage)), err), "restore the site's folder from a copy")
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
func (r *poolRound) draftMessage(number int, member string, m masked.Message, stays func(dir string, m *bundle.Manifest) error) error {
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
func (v *visit) poolHeader(stage, number int) bundle.Header {
	var to []*identity.Statement
	for _, s := range v.chain.Root().Parties() {
		if now := v.chain.Present(s.Fingerprint()); now != nil && !v.chain.Same(s.Fingerprint(), v.own()) {
			to = append(to, now)
		}
	}
	h := v.header(bundle.KindPool, to)
	slices.SortFunc(h.Recipients, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) })
	h.Round, h.Number = stage, number
	return h
}

// send seals and sends every message of the round that is not acknowledged yet, the
// approved ready messages and what follows from them. It reports what was sent.
func (p *program) sendPool(ctx context.Context, c post.Post, r *poolRound) error {
	for i, m := range r.own() {
		number := i + 1
		if m.Kind != masked.KindReady {
			if err := r.draftMessage(number, m.Kind+".json", m, nil); err != nil {
				return err
			}
		}
		name := site.PoolName(r.stage, number)
		if r.stale(name, m) {
			continue
		}
		if m.Kind == masked.KindReady && !r.v.site.Has("outbox", name+".bundle") {
			if err := r.answers(name, m.Set); err != nil {
				return err
			}
		}
		if err := p.sendMessage(ctx, r.v, c, name, m.Kind); err != nil {
			return err
		}
	}
	return nil
}

// stale reports whether a ready message that was not sealed is for a set that was left: it
// need not leave any more.
func (r *poolRound) stale(name string, m masked.Message) bool {
	return m.Kind == masked.KindReady && !r.v.site.Has("outbox", name+".bundle") && !slices.Equal(m.Set, r.Members())
}

// answers enters in the ledger, durably, that a ready message for a set leaves: others may
// open its sums without this site. What they would show beside earlier answers only a
// person approves.
func (r *poolRound) answers(name string, set []wire.Hash) error {
	v := r.v
	m, err := v.loadManifest(name)
	if err != nil {
		return err
	}
	from, err := v.loadSource(name)
	if err != nil {
		return err
	}
	q := v.question(r.stage, set, from.SHA256, r.Config.Statistics.Hash())
	verdict, err := v.judge(q)
	if err != nil {
		return err
	}
	if verdict.Never != nil {
		return verdict.Never
	}
	if !verdict.OK() {
		// Whoever approved has seen the same verdict and typed a yes.
		approval, err := v.loadApproval(name, m)
		if err != nil {
			return err
		}
		if approval.Policy != bundle.PolicyPerson {
			return wire.WithHint(errors.New("this would show more than the sums; only a person approves that"), "run concord pool review")
		}
		q.Approved = true
	}
	return v.answer(q)
}

// sendMessage seals a message of masked sums, once, and sends it until it is
// acknowledged.
func (p *program) sendMessage(ctx context.Context, v *visit, c post.Post, name, what string) error {
	if v.site.Sent(name) {
		return nil
	}
	if !v.site.Has("outbox", name+".bundle") {
		m, err := v.loadManifest(name)
		if err != nil {
			return err
		}
		if !mustApprove(m) {
			if !v.site.HasDraft(name, "leaves", approvalFile) {
				if err := v.approveFollowing(name, m); err != nil {
					return err
				}
			}
		} else if hasFigures(m) {
			if err := errors.Join(v.stillPools(name, m), v.keepSource(name)); err != nil {
				return err
			}
		}
		if err := v.sealDraft(name); err != nil {
			return err
		}
	}
	n, err := v.sendOutbox(ctx, c, name)
	switch {
	case errors.Is(err, post.ErrLater):
		p.printf("sealed %s (%s), %d bytes, for the next parcel\n", named(name), what, n)
		return nil
	case err != nil:
		return err
	}
	p.printf("sent %s (%s): %d bytes, sealed to the other parties\n", named(name), what, n)
	return nil
}

// policyFollows stands in approvals of messages that follow from what was approved: that
// all ready messages are here, that a message did not come, the common directions. The
// site's own key signs them.
const policyFollows = "follows"

func (v *visit) approveFollowing(name string, m *bundle.Manifest) error {
	id, err := v.idIn(m.Epoch)
	if err != nil {
		return err
	}
	return v.approveAs(name, m, id.SigningKey(), policyFollows, id.Statement.SigningKey)
}

// fetchPool fetches the other parties' messages of a stage and takes those that it has
// not taken. A message that is of no use stops nothing: its sender is awaited.
func (p *program) fetchPool(ctx context.Context, c post.Post, r *poolRound) error {
	v := r.v
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	changed := false
	for _, info := range waiting {
		if info.Kind != bundle.KindPool || info.Round != r.stage {
			continue
		}
		origin, err := v.chain.Root().Member(v.chain.Origin(info.Sender))
		if err != nil || info.Number < 1 || info.Number > api.PoolMessages(len(v.chain.Root().Members)) {
			continue // not of those who sum, or more than the stage can have
		}
		name := site.PoolName(info.Round, info.Number) + "-" + origin.Fingerprint().String()
		if slices.Contains(r.kept.Taken, name) || r.kept.Refused[name] != "" {
			continue
		}
		switch err := p.takeMessage(ctx, c, r, origin, info); {
		case errors.Is(err, masked.ErrLeft):
			p.printf("! message %d of %q came after the others had gone on without it: refused, and not used\n", info.Number, origin.Name)
			r.refuse(name, "left")
		case err != nil:
			var party *masked.PartyError
			signed := errors.As(err, &party) || errors.Is(err, masked.ErrUnfit)
			if !signed && !refusedBundle(err) {
				return fmt.Errorf("message %d of stage %d from %q: %w", info.Number, r.stage, origin.Name, err)
			}
			p.printf("! message %d of stage %d from %q is of no use: %s\n", info.Number, r.stage, origin.Name, wire.Printable(err.Error()))
			if signed { // what was damaged on its way may come whole another time
				r.refuse(name, err.Error())
			}
		default:
			r.kept.Taken = append(r.kept.Taken, name)
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return r.keep()
}

func (r *poolRound) refuse(name, why string) {
	if r.kept.Refused == nil {
		r.kept.Refused = map[string]string{}
	}
	r.kept.Refused[name] = why
}

// refusedBundle reports whether an error says that a bundle itself is wrong, and not
// what carried it.
func refusedBundle(err error) bool {
	for _, e := range []error{bundle.ErrVersion, bundle.ErrDamaged, bundle.ErrMismatch, bundle.ErrSignature, bundle.ErrApproval} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// takeMessage fetches one message and hands it to the round. The words of a ready
// message are kept under their SHA-256.
func (p *program) takeMessage(ctx context.Context, c post.Post, r *poolRound, from *identity.Statement, info api.BundleInfo) error {
	reader, closeFile, err := r.v.fetch(ctx, c, from, info, api.PoolBytes(r.v.whole))
	if err != nil {
		return err
	}
	defer closeFile()
	member := ""
	for _, m := range reader.Manifest.Members {
		if strings.HasSuffix(m.Name, ".json") && member == "" {
			member = m.Name
		}
	}
	raw, err := reader.Bytes(member, masked.MaxHeadBytes)
	if err != nil {
		return fmt.Errorf("%w: %w", masked.ErrUnfit, err)
	}
	if r.Taken(raw) { // passed on by another; its words are here, and are not written again
		return nil
	}
	head, err := masked.DecodeHead(raw)
	if err != nil {
		return &masked.PartyError{Party: from.Fingerprint(), Name: from.Name, What: "sent what is no message of masked sums: " + err.Error()}
	}
	if head.Kind != masked.KindReady {
		return r.Take(raw, nil)
	}
	if member == readyMember && reader.Approval.Policy == policyFollows {
		return &masked.PartyError{Party: from.Fingerprint(), Name: from.Name, What: "sent figures that nobody there has approved"}
	}
	path := r.v.site.Pool(wordsFile(*head.Body))
	if err := r.v.site.MakePool(); err != nil {
		return err
	}
	words, err := reader.Member(wordsMember)
	if err != nil {
		return fmt.Errorf("%w: %w", masked.ErrUnfit, err)
	}
	return durable.Write(path, draftPerm, func(f *os.File) error {
		return r.Take(raw, io.TeeReader(words, f))
	})
}

// forward passes on the ready messages of parties that others want to leave out, where
// this site has them.
func (p *program) forwardPool(ctx context.Context, c post.Post, r *poolRound, proposed []wire.Hash) error {
	for _, m := range r.Forward() {
		if m.Kind != masked.KindReady || !slices.Contains(proposed, m.Sender) {
			continue
		}
		number := firstForward
		for ; r.v.site.HasDraft(site.PoolName(r.stage, number)); number++ {
			known, err := r.v.loadManifest(site.PoolName(r.stage, number))
			if err != nil {
				return err
			}
			if in, ok := known.Member(forwardMember); ok && in.SHA256 == wire.HashOf(m.Head) {
				break
			}
		}
		if err := r.draftMessage(number, forwardMember, m, nil); err != nil {
			return err
		}
		if err := p.sendMessage(ctx, r.v, c, site.PoolName(r.stage, number), "passed on"); err != nil {
			return err
		}
	}
	return nil
}

// openWords opens the words of a ready message.
func (r *poolRound) openWords(h wire.Hash) (io.ReadCloser, error) {
	return os.Open(r.v.site.Pool(wordsFile(h)))
}

// partyNames names parties of the round for people.
func (v *visit) partyNames(parties []wire.Hash) string {
	var list []string
	for _, h := range parties {
		if s := v.chain.Known(h); s != nil {
			list = append(list, s.Name)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// notePooled enters in the audit log that the sums of a stage are known, under a name of them
// that says nothing without the parties' seed.
func (v *visit) notePooled(stage int, name string, set []wire.Hash, sums wire.Hash) error {
	seed, ok, err := v.site.Seed()
	if err != nil {
		return err
	}
	if !ok {
		return wire.WithHint(errors.New("the anchor is not agreed yet"), "run concord sync")
	}
	return v.noteOnce(audit.Event{
		Kind: audit.Agreed, Epoch: v.chain.Setup(), File: anchor.SumsID(seed, sums),
		Note: fmt.Sprintf("the sums of stage %d, %s, over %d parties; no one's own are in it", stage, name, len(set)),
	})
}
