package masked

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"concord/secret"
	"concord/wire"
)

// Due is what a round waits for.
type Due string

// What is due.
const (
	// DueReady: [Round.Ready] has to be called.
	DueReady Due = "ready"
	// DueReveal: [Round.Reveal] has to be called. Nobody needs to decide: everything was
	// approved with the ready message.
	DueReveal Due = "reveal"
	// DueOthers: messages of others are awaited.
	DueOthers Due = "others"
	// DueNothing: [Round.Sums] gives the sums.
	DueNothing Due = "nothing"
	// DueLeft: the others go on without this party, which may have the sums when it has their
	// messages.
	DueLeft Due = "left"
)

// Step says where a round is.
type Step struct {
	Due Due
	// Set are the members of the present set, sorted; Attempt counts from 1 and one more
	// for each party that was left out.
	Set     []wire.Hash
	Attempt int
	// Kind is that of the awaited messages, and Awaited whose they are. For reveal any
	// Missing of Awaited are enough.
	Kind    string
	Awaited []wire.Hash
	Missing int
	// Without are the parties that this one has signed to go on without, while others have
	// not; Proposed those that others have signed to go on without and this one has not. While
	// somebody proposes and nobody has revealed, a person decides: [Round.Without] those, or
	// [Round.Reveal].
	Without, Proposed []wire.Hash
	// Unopened says that enough have revealed and a key does not open with their shares: it
	// names the party that shared it wrongly. The shares of Awaited may still open it; when
	// nobody is awaited the sum never opens here.
	Unopened error
	// Problems are PartyErrors: messages of the present set that do not serve.
	Problems []error
}

// Next says what is due, or who is awaited.
func (r *Round) Next() Step {
	g := r.current()
	s := Step{Due: DueOthers, Set: slices.Clone(g.members), Attempt: g.attempt() - len(r.first.without)}
	member := contains(g.members, r.me)
	pledged := r.pledged(r.me)
	leaving := member && pledged != nil && len(pledged.members) < len(g.members)
	if leaving {
		s.Without = difference(pledged.without, g.without)
	}
	if member {
		s.Proposed = r.proposed(g)
	}
	lack := r.lack(g.members, g.ready)
	var good []wire.Hash
	can := member && len(lack) == 0
	if len(lack) == 0 {
		good, s.Problems = r.reveals(g)
	}
	if can {
		for _, m := range g.members {
			if _, err := r.openShare(g, m); err != nil {
				s.Problems = append(s.Problems, err)
				can = false
			}
		}
	}
	enough := len(lack) == 0 && len(good) >= g.threshold
	if enough {
		o := r.opened(g, good)
		s.Problems, s.Unopened = append(s.Problems, o.problems...), o.unopened
	}
	switch {
	case member && g.ready[r.me] == nil && !leaving:
		s.Due = DueReady
	case can && g.reveal[r.me] == nil && !leaving && !r.doubtful(g):
		s.Due = DueReveal
	case enough && s.Unopened == nil:
		s.Due = DueNothing
	case leaving:
		s.Kind, s.Awaited = KindAbsent, r.lack(pledged.members, r.signers(pledged.hash))
		s.Missing = len(s.Awaited)
	case len(lack) > 0:
		s.Kind, s.Awaited, s.Missing = KindReady, lack, len(lack)
	default:
		s.Kind, s.Awaited = KindReveal, r.lack(g.members, g.reveal)
		s.Missing = min(len(s.Awaited), max(1, g.threshold-len(good)))
	}
	if !member && s.Due == DueOthers {
		s.Due = DueLeft
	}
	return s
}

// lack are the members that have sent none of some messages.
func (r *Round) lack(members []wire.Hash, sent map[wire.Hash]*message) []wire.Hash {
	var list []wire.Hash
	for _, m := range members {
		if sent[m] == nil {
			list = append(list, m)
		}
	}
	return list
}

// doubtful says that some have signed to leave a set, so that revealing for it may not
// open it and would keep this party in it: fewer than the threshold are left, or nobody
// has revealed yet and people may still go on together.
func (r *Round) doubtful(g *group) bool {
	gone := make(map[wire.Hash]bool)
	for _, absent := range r.leavers(g) {
		gone[absent.Sender] = true
	}
	return len(gone) > 0 && (len(g.reveal) == 0 || len(g.members)-len(gone) < g.threshold)
}

// proposed are those without whom others go on from g.
func (r *Round) proposed(g *group) []wire.Hash {
	seen := make(map[wire.Hash]bool)
	mine := g.without
	if p := r.pledged(r.me); p != nil && len(p.without) > len(mine) {
		mine = p.without // its own word is not among the others'
	}
	for _, absent := range r.leavers(g) {
		for _, m := range difference(absent.Next, mine) {
			seen[m] = true
		}
	}
	var list []wire.Hash
	for m := range seen {
		list = append(list, m)
	}
	slices.SortFunc(list, compare)
	return list
}

// head begins a message of this party for a set.
func (r *Round) head(g *group, kind string) *Head {
	return &Head{
		Format: 1, Study: r.Study, Epoch: r.Epoch, Stage: r.Stage,
		Statistics: r.statistics, Words: r.Config.Statistics.N,
		Sender: r.me, Kind: kind, Without: slices.Clone(g.without),
	}
}

// file signs a message of this party and takes it.
func (r *Round) file(g *group, h *Head) error {
	h.Signature = r.id.Sign(wire.SignPool, h.signedPart())
	raw := h.Encode()
	m := &message{Head: h, raw: raw, hash: wire.HashOf(raw)}
	if err := r.fits(g, m); err != nil {
		return err
	}
	r.add(g, m)
	return nil
}

// Ready masks the vector for the present set and writes the words to body, the same
// whatever the number of processors. It is done once a set: a second call is an error,
// for two vectors under the same masks would show their difference. The caller keeps the
// words under their SHA-256, and then the State, before it sends anything.
//
// Cost: one pass of AES for each member over 16 bytes an entry; memory beside the vector
// is a few MiB.
func (r *Round) Ready(v Vector, body io.Writer) error {
	g := r.current()
	if v.Len() != r.Config.Statistics.N {
		return fmt.Errorf("masked: %d figures for %d statistics", v.Len(), r.Config.Statistics.N)
	}
	if due := r.Next().Due; due != DueReady {
		return fmt.Errorf("masked: a masked message is not due (%s)", due)
	}
	coefficients, err := draw(g.threshold)
	if err != nil {
		return err
	}
	return r.ready(g, v, body, coefficients)
}

// ready is Ready with the polynomial of the own key.
func (r *Round) ready(g *group, v Vector, body io.Writer, coefficients []*big.Int) error {
	key, shares := split(coefficients, len(g.members))
	defer key.Erase()
	masks, err := r.masks(g, key)
	if err != nil {
		return err
	}
	sum := sha256.New()
	if err := mask(io.MultiWriter(sum, body), v.reveal(), masks); err != nil {
		return fmt.Errorf("masked: writing the masked message: %w", err)
	}
	h := r.head(g, KindReady)
	words := wire.Hash(sum.Sum(nil))
	committed := commit(labelKey, key.Reveal())
	h.Body, h.Key = &words, &committed
	for i, m := range g.members {
		pad, err := r.pad(g, words, r.me, m)
		if err != nil {
			return err
		}
		share := shares[i].Reveal()
		sealed := make([]byte, shareBytes)
		subtle.XORBytes(sealed, share, pad.Reveal())
		promise := commit(labelCommit, share)
		h.Shares = append(append(h.Shares, sealed...), promise[:]...)
		shares[i].Erase()
	}
	return r.file(g, h)
}

// masks are those of this party in a set.
func (r *Round) masks(g *group, own secret.Bytes) ([]stream, error) {
	masks := []stream{newStream(r.ownKey(g, r.me, own), false)}
	for _, m := range g.members {
		if m == r.me {
			continue
		}
		pair, err := r.pair(m)
		if err != nil {
			return nil, err
		}
		low, high := r.me, m
		if compare(low, high) > 0 {
			low, high = high, low
		}
		key := r.derive(pair, r.context(labelPair, g, low, high))
		masks = append(masks, newStream(key, r.me == high))
		key.Erase()
	}
	return masks, nil
}

// pair is the secret that this party has in common with another, or with itself.
func (r *Round) pair(other wire.Hash) (secret.Bytes, error) {
	if s, ok := r.pairs[other]; ok {
		return s, nil
	}
	s, err := r.id.PairSecret(r.statements[other])
	if err != nil {
		return s, fmt.Errorf("masked: %w", err)
	}
	r.pairs[other] = s
	return s, nil
}

// ownKey is the key of the stream that a party adds by itself.
func (r *Round) ownKey(g *group, party wire.Hash, key secret.Bytes) secret.Bytes {
	return r.derive(key, r.context(labelOwn, g, party))
}

// pad encrypts the one share that a dealer made for a holder beside the words with that hash.
func (r *Round) pad(g *group, words, dealer, holder wire.Hash) (secret.Bytes, error) {
	other := dealer
	if dealer == r.me {
		other = holder
	}
	pair, err := r.pair(other)
	if err != nil {
		return secret.Bytes{}, err
	}
	return r.derive(pair, r.context(labelShare, g, words, dealer, holder)), nil
}

// mask writes words with all masks on them.
func mask(w io.Writer, words []Word, masks []stream) error {
	buf := make([]byte, 64*chunkBytes)
	for from := 0; from < len(words); from += 64 * chunkWords {
		some := words[from:min(len(words), from+64*chunkWords)]
		each(len(some), func(a, b int, scratch []byte) {
			piece := buf[a*wordBytes : b*wordBytes]
			for i, word := range some[a:b] {
				putWord(piece[i*wordBytes:], word)
			}
			apply(masks, piece, from+a, scratch, zeros)
		})
		if _, err := w.Write(buf[:len(some)*wordBytes]); err != nil {
			return err
		}
	}
	return nil
}

// Reveal makes the reveal message for the present set. Once it was sent this party cannot
// go on with a smaller set, unless the present one can no longer open: the caller keeps the
// State before it sends it.
func (r *Round) Reveal() error {
	g := r.current()
	switch p := r.pledged(r.me); {
	case !contains(g.members, r.me):
		return ErrLeft
	case p != nil && len(p.members) < len(g.members):
		return errors.New("masked: this party has signed to go on with fewer, and does not reveal for the present set")
	case g.reveal[r.me] != nil:
		return errors.New("masked: this party has revealed already")
	}
	if lack := r.lack(g.members, g.ready); len(lack) > 0 {
		return fmt.Errorf("masked: nothing is to be revealed before the messages of %s are here", strings.Join(r.names(lack), ", "))
	}
	h := r.head(g, KindReveal)
	for _, m := range g.members {
		share, err := r.openShare(g, m)
		if err != nil {
			return err
		}
		h.Seen = append(h.Seen, g.ready[m].hash[:]...)
		h.Opened = append(h.Opened, share...)
	}
	return r.file(g, h)
}

// Without signs that this party goes on without others, whose messages for the present
// set did not come: it never reveals for it. All that go on must sign for the same
// parties.
//
// Whoever has all messages forwards them instead of signing, unless others have signed
// already. Whoever has revealed signs only if so many others have left the present set that
// it never opens: else the sums may be known to somebody, and what is missing are
// messages that are a few bytes long.
func (r *Round) Without(parties ...wire.Hash) error {
	g := r.current()
	if !contains(g.members, r.me) {
		return ErrLeft
	}
	next := slices.Clone(g.without)
	if p := r.pledged(r.me); p != nil && len(p.without) > len(next) {
		next = slices.Clone(p.without)
	}
	already := slices.Clone(next)
	for _, p := range parties {
		if r.statements[p] == nil {
			return fmt.Errorf("masked: %s is not in the round", p.Short())
		}
		if p == r.me {
			return errors.New("masked: this party cannot go on without itself")
		}
		if !contains(next, p) {
			next = append(next, p)
			slices.SortFunc(next, compare)
		}
	}
	removed := difference(next, g.without)
	if len(next) == len(already) {
		return errors.New("masked: these parties are left out already")
	}
	if err := r.checkSet(next); err != nil {
		return err
	}
	if len(removed)+r.Colluders >= g.threshold {
		return fmt.Errorf("masked: %d parties cannot be left out at once, at most %d of %d: amend the roster instead",
			len(removed), g.threshold-1-r.Colluders, len(g.members))
	}
	revealed := g.reveal[r.me] != nil
	if revealed && !r.closed(g) {
		return errors.New("masked: this party has revealed for the present set and cannot leave it: the sums may be known; ask those that are awaited for their messages")
	}
	if !revealed && !r.missing(g, removed) && !within(difference(next, already), r.proposed(g)) {
		return fmt.Errorf("masked: the messages of %s are here; they are forwarded to whoever lacks them", strings.Join(r.names(removed), ", "))
	}
	h := r.head(g, KindAbsent)
	h.Next = next
	h.Revealed = revealed
	return r.file(g, h)
}

// missing reports whether the message of any of some parties is missing or does not serve.
func (r *Round) missing(g *group, parties []wire.Hash) bool {
	for _, p := range parties {
		if g.ready[p] == nil {
			return true
		}
		if _, err := r.openShare(g, p); err != nil {
			return true
		}
	}
	return false
}

// closed reports whether a set can never open: of those that left it without having
// revealed as many may lie as collude, and everybody else may reveal.
func (r *Round) closed(g *group) bool {
	left := make(map[wire.Hash]bool)
	for _, absent := range r.leavers(g) {
		if m := absent.Sender; !absent.Revealed && g.reveal[m] == nil && m != r.me {
			left[m] = true
		}
	}
	return len(g.members)-len(left)+r.Colluders < g.threshold
}

// A Message is one that may have to be sent.
type Message struct {
	Head []byte
	Kind string
	// Sender is this party, or whoever signed the message that is forwarded.
	Sender wire.Hash
	// Body names the words of a ready message.
	Body *wire.Hash
	// Set are the members of the message's set, sorted.
	Set []wire.Hash
}

// Outbox are this party's messages that the others may still need, in the order in which
// they were made: always the same bytes. Sending one twice does no harm.
func (r *Round) Outbox() []Message {
	return r.list(func(m *message) bool { return m.Sender == r.me })
}

// Forward are the ready messages for the present set that this party holds of others, for
// a member that lacks them. They are signed by their senders: [Round.Take] takes
// them from anybody.
func (r *Round) Forward() []Message {
	g := r.current()
	return r.list(func(m *message) bool {
		return m.Sender != r.me && (m.Kind == KindAbsent || g.ready[m.Sender] == m || g.reveal[m.Sender] == m)
	})
}

func (r *Round) list(wanted func(*message) bool) []Message {
	var list []Message
	for _, m := range r.messages {
		if wanted(m) {
			list = append(list, Message{Head: slices.Clone(m.raw), Kind: m.Kind, Sender: m.Sender, Body: m.Body, Set: difference(r.all, m.Without)})
		}
	}
	return list
}
