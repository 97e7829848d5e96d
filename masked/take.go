package masked

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"

	"concord/wire"
)

// Take takes a message of another party, or of this one (a state). Order and duplicates do not
// matter. body has the words of a message of kind ready and is read to its end; the caller
// keeps them under the name of their SHA-256 ([Head.Body]). A ready message that was taken
// before is not asked for its body again.
//
// After an error the round is as before. [ErrUnfit] and [ErrLeft] mean that the message is of
// no use; a [PartyError] names a party that did what no honest program does; what else goes
// wrong is reading the words.
func (r *Round) Take(raw []byte, body io.Reader) error { return r.take(raw, body, false) }

// Taken reports whether a message was taken before: its words are kept, and not read again.
func (r *Round) Taken(raw []byte) bool { return r.taken[wire.HashOf(raw)] }

// take is Take; the bodies of kept messages were seen before.
func (r *Round) take(raw []byte, body io.Reader, kept bool) error {
	if r.taken[wire.HashOf(raw)] {
		return nil
	}
	h, err := DecodeHead(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if err := r.belongs(h); err != nil {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	if err := wire.Verify(r.statements[h.Sender].SigningKey, wire.SignPool, h.signedPart(), h.Signature); err != nil {
		return fmt.Errorf("%w: of %q: %w", ErrUnfit, r.name(h.Sender), err)
	}
	m := &message{Head: h, raw: bytes.Clone(raw), hash: wire.HashOf(raw)}
	g, err := r.place(m)
	if err != nil {
		return err
	}
	if old := g.message(m); old != nil {
		return r.wrong(h.Sender, "sent two different messages (%s) for the same set: %s and %s; keep both, they are signed",
			h.Kind, old.hash.Short(), m.hash.Short())
	}
	if err := r.fits(g, m); err != nil {
		return err
	}
	if r.late(g, m) && !kept {
		return ErrLeft
	}
	if h.Kind == KindReady && !kept {
		if err := r.checkBody(h, body); err != nil {
			return err
		}
	}
	r.add(g, m)
	return nil
}

// late says whether a message is of a set that was left for a smaller one: of a set that
// is not within the present one, or toward such a set.
func (r *Round) late(g *group, m *message) bool {
	members := g.members
	if m.Kind == KindAbsent {
		members = difference(r.all, m.Next)
	}
	return !within(members, r.current().members)
}

// belongs says whether a message is of this round.
func (r *Round) belongs(h *Head) error {
	for _, f := range []struct {
		what string
		same bool
	}{
		{"study", h.Study == r.Study}, {"epoch", h.Epoch == r.Epoch}, {"stage", h.Stage == r.Stage},
	} {
		if !f.same {
			return fmt.Errorf("masked: a message is of another %s", f.what)
		}
	}
	if r.statements[h.Sender] == nil {
		return fmt.Errorf("masked: a message is from %s, who is not in the round", h.Sender.Short())
	}
	return nil
}

// place finds the set of a message whose signature is right.
func (r *Round) place(m *message) (*group, error) {
	if m.Words != r.Config.Statistics.N || m.Statistics != r.statistics {
		return nil, r.wrong(m.Sender, "sums %d statistics (%s), here they are %d (%s): the programs or the agreed figures differ",
			m.Words, m.Statistics.Short(), r.Config.Statistics.N, r.statistics.Short())
	}
	for _, without := range [][]wire.Hash{m.Without, m.Next} {
		if !within(without, r.all) {
			return nil, r.wrong(m.Sender, "leaves out a party that is not in the round")
		}
		if err := r.checkSet(without); err != nil {
			return nil, r.wrong(m.Sender, "goes on with too few: %v", err)
		}
		if contains(without, m.Sender) {
			return nil, r.wrong(m.Sender, "is not in the set of its own message")
		}
	}
	// What this sender says is about ever smaller sets, and not about too many of them.
	sets := map[wire.Hash]bool{r.setWithout(m.Without): true, r.setWithout(m.Next): true}
	for _, old := range r.messages {
		if old.Sender != m.Sender {
			continue
		}
		if !within(old.Without, m.Without) && !within(m.Without, old.Without) {
			return nil, r.wrong(m.Sender, "sent messages for two sets of which neither is within the other")
		}
		sets[r.setWithout(old.Without)] = true
		sets[r.setWithout(old.Next)] = true
	}
	if len(sets) > MaxAttempts {
		return nil, r.wrong(m.Sender, "sent messages for more than %d sets", MaxAttempts)
	}
	return r.group(m.Without)
}

// message returns what the sender of m has sent in m's place before.
func (g *group) message(m *message) *message {
	switch m.Kind {
	case KindReady:
		return g.ready[m.Sender]
	case KindReveal:
		return g.reveal[m.Sender]
	}
	return nil // one for each smaller set
}

// fits says what is wrong with a message in its set.
func (r *Round) fits(g *group, m *message) error {
	n := len(g.members)
	switch m.Kind {
	case KindReady:
		if len(m.Shares) != 2*shareBytes*n {
			return r.wrong(m.Sender, "shares its key in %d bytes, must be %d for %d parties", len(m.Shares), 2*shareBytes*n, n)
		}
	case KindReveal:
		if len(m.Seen) != sha256.Size*n || len(m.Opened) != shareBytes*n {
			return r.wrong(m.Sender, "reveals %d and %d bytes, must be %d each for %d parties", len(m.Seen), len(m.Opened), shareBytes*n, n)
		}
		for _, old := range r.messages {
			if r.breaks(m, old) {
				return r.wrong(m.Sender, "revealed for a set that it had left")
			}
		}
	case KindAbsent:
		if len(m.Next) <= len(m.Without) || !within(m.Without, m.Next) {
			return r.wrong(m.Sender, "goes on with a set that is not smaller")
		}
		if removed := len(m.Next) - len(m.Without); removed+r.Colluders >= g.threshold {
			return r.wrong(m.Sender, "leaves out %d parties at once, at most %d can be", removed, g.threshold-1-r.Colluders)
		}
		for _, old := range r.messages {
			if old.Sender != m.Sender || old.Kind != KindAbsent {
				continue
			}
			if !within(old.Next, m.Next) && !within(m.Next, old.Next) {
				return r.wrong(m.Sender, "goes on with two sets of which neither is within the other")
			}
			// An honest program signs once toward a set: there are fewer than MaxAttempts.
			if len(old.Next) == len(m.Next) {
				return r.wrong(m.Sender, "signed twice to go on with the same set: %s and %s", old.hash.Short(), m.hash.Short())
			}
		}
		for _, old := range r.messages {
			if r.breaks(old, m) {
				return r.wrong(m.Sender, "left a set for which it has revealed")
			}
		}
		_, err := r.group(m.Next)
		return err
	}
	return nil
}

// breaks reports whether a party revealed for a set and went on from it, or from a larger
// one, with a smaller, as if it had not revealed.
func (r *Round) breaks(reveal, absent *message) bool {
	return reveal.Sender == absent.Sender && reveal.Kind == KindReveal && absent.Kind == KindAbsent && !absent.Revealed &&
		within(absent.Without, reveal.Without) && within(reveal.Without, absent.Next) && len(absent.Next) > len(reveal.Without)
}

// checkBody reads the words of a ready message.
func (r *Round) checkBody(h *Head, body io.Reader) error {
	if body == nil {
		return fmt.Errorf("%w: the words of %q are missing", ErrUnfit, r.name(h.Sender))
	}
	want := int64(h.Words) * wordBytes
	sum := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{sum}, io.LimitReader(body, want+1), make([]byte, chunkBytes))
	if err != nil {
		return fmt.Errorf("masked: the words of %q: %w", r.name(h.Sender), err)
	}
	if n != want {
		return fmt.Errorf("%w: the words of %q have another length than %d bytes: fetch the message again", ErrUnfit, r.name(h.Sender), want)
	}
	if wire.Hash(sum.Sum(nil)) != *h.Body {
		return fmt.Errorf("%w: the words of %q are not those that it signed: fetch the message again", ErrUnfit, r.name(h.Sender))
	}
	return nil
}

// add files a message that fits.
func (r *Round) add(g *group, m *message) {
	switch m.Kind {
	case KindReady:
		g.ready[m.Sender] = m
	case KindReveal:
		g.reveal[m.Sender] = m
	case KindAbsent:
		to := r.setWithout(m.Next)
		if g.toward[to] == nil {
			g.toward[to] = make(map[wire.Hash]*message)
		}
		g.toward[to][m.Sender] = m
	}
	r.messages = append(r.messages, m)
	r.taken[m.hash] = true
}
