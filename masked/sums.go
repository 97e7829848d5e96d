package masked

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"slices"

	"concord/wire"
)

// openShare decrypts this party's share of a member's key.
func (r *Round) openShare(g *group, dealer wire.Hash) ([]byte, error) {
	ready := g.ready[dealer]
	at, _ := slices.BinarySearchFunc(g.members, r.me, compare)
	pad, err := r.pad(g, *ready.Body, dealer, r.me)
	if err != nil {
		return nil, err
	}
	share := make([]byte, shareBytes)
	subtle.XORBytes(share, ready.share(at), pad.Reveal())
	if commit(labelCommit, share) != ready.promise(at) {
		return nil, r.wrong(dealer, "gave this party a share of its key that is not the one it promised")
	}
	return share, nil
}

// share is the encrypted share of member at, promise the commitment to it.
func (m *message) share(at int) []byte { return m.Shares[2*shareBytes*at:][:shareBytes] }

func (m *message) promise(at int) wire.Hash {
	return wire.Hash(m.Shares[2*shareBytes*at+shareBytes:][:shareBytes])
}

// reveals are the members whose reveal messages serve: they have seen the same ready
// messages as this party, and their shares are those that were promised.
func (r *Round) reveals(g *group) (good []wire.Hash, problems []error) {
	for at, m := range g.members {
		reveal := g.reveal[m]
		if reveal == nil {
			continue
		}
		if err := r.checkReveal(g, reveal, at); err != nil {
			problems = append(problems, err)
			continue
		}
		good = append(good, m)
	}
	return good, problems
}

func (r *Round) checkReveal(g *group, reveal *message, at int) error {
	for i, dealer := range g.members {
		ready := g.ready[dealer]
		if !bytes.Equal(reveal.Seen[sha256.Size*i:][:sha256.Size], ready.hash[:]) {
			return r.wrong(reveal.Sender, "has another message of %q than this party (%x, here %s): compare them, what %q signed twice is proof against it",
				r.name(dealer), reveal.Seen[sha256.Size*i:][:6], ready.hash.Short(), r.name(dealer))
		}
		if commit(labelCommit, reveal.Opened[shareBytes*i:][:shareBytes]) != ready.promise(at) {
			return r.wrong(reveal.Sender, "revealed another share of the key of %q than was promised", r.name(dealer))
		}
	}
	return nil
}

// Sums adds the words of the set and takes the keys off. open gives the words of a ready
// message by their SHA-256, which is checked again. Every party of the set gets the same
// bits.
//
// Cost: one pass of AES and one addition for each member over 16 bytes an entry; memory
// 16 bytes an entry.
func (r *Round) Sums(open func(words wire.Hash) (io.ReadCloser, error)) (Sums, error) {
	g := r.current()
	switch step := r.Next(); {
	case step.Due == DueNothing:
	case step.Unopened != nil:
		return Sums{}, step.Unopened
	default:
		return Sums{}, fmt.Errorf("masked: the sums are not known yet (%s)", step.Due)
	}
	keys, err := r.ownStreams(g)
	if err != nil {
		return Sums{}, err
	}
	words := make([]Word, r.Config.Statistics.N)
	for _, m := range g.members {
		if err := r.addBody(words, m, *g.ready[m].Body, open); err != nil {
			return Sums{}, err
		}
	}
	each(len(words), func(from, to int, scratch []byte) {
		total := make([]byte, (to-from)*wordBytes)
		apply(keys, total, from, scratch, zeros)
		for i := range words[from:to] {
			words[from+i] = words[from+i].Sub(getWord(total[i*wordBytes:]))
		}
	})
	return Sums{Vector{func() []Word { return words }}, slices.Clone(g.members)}, nil
}

// addBody adds a member's words.
func (r *Round) addBody(words []Word, member, body wire.Hash, open func(wire.Hash) (io.ReadCloser, error)) error {
	f, err := open(body)
	if err != nil {
		return fmt.Errorf("masked: the words of %q: %w", r.name(member), err)
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, chunkBytes)
	for from := 0; from < len(words); from += chunkWords {
		some := words[from:min(len(words), from+chunkWords)]
		piece := buf[:len(some)*wordBytes]
		if _, err := io.ReadFull(f, piece); err != nil {
			return fmt.Errorf("masked: the words of %q: %w", r.name(member), err)
		}
		h.Write(piece)
		for i := range some {
			some[i] = some[i].Add(getWord(piece[i*wordBytes:]))
		}
	}
	if wire.Hash(h.Sum(nil)) != body {
		return fmt.Errorf("masked: the kept words of %q have changed: fetch its message again", r.name(member))
	}
	return nil
}
