package masked

import (
	"fmt"

	"concord/identity"
	"concord/secret"
	"concord/wire"
)

// MaxStateBytes bounds an encoded state.
const MaxStateBytes = 1 << 30

// state is every message that was made or taken, as it was signed.
type state struct {
	Format   int      `json:"format"`
	Messages [][]byte `json:"messages"`
}

// State returns what [Resume] needs to go on after any interruption: all messages without
// their words. It is as secret as the site's folder. It must be durable before a message
// made since the last State is sent.
func (r *Round) State() secret.Bytes {
	s := state{Format: 1, Messages: make([][]byte, len(r.messages))}
	for i, m := range r.messages {
		s.Messages[i] = m.raw
	}
	b, err := wire.Canonical(s)
	if err != nil { // bytes always encode
		panic("masked: " + err.Error())
	}
	return secret.NewBytes(b)
}

// Resume is New with a state. It checks every signature in it: whoever edits the file can
// at most take messages away.
func Resume(c Config, id *identity.Identity, kept secret.Bytes) (*Round, error) {
	r, err := New(c, id)
	if err != nil {
		return nil, err
	}
	s, err := decodeState(kept)
	if err != nil {
		return nil, err
	}
	for i, raw := range s.Messages {
		if err := r.take(raw, nil, true); err != nil {
			return nil, fmt.Errorf("masked: the state of a round: message %d: %w", i+1, err)
		}
	}
	return r, nil
}

func decodeState(kept secret.Bytes) (state, error) {
	var s state
	if kept.Len() > MaxStateBytes {
		return s, fmt.Errorf("masked: the state of a round has %d bytes, at most %d are read", kept.Len(), MaxStateBytes)
	}
	if err := wire.CheckFormat(kept.Reveal(), "masked: the state of a round", 1); err != nil {
		return s, err
	}
	if err := wire.DecodeCanonical(kept.Reveal(), &s); err != nil {
		return s, fmt.Errorf("masked: the state of a round: %w", err)
	}
	if s.Format != 1 {
		return s, &wire.FormatError{What: "masked: the state of a round", Theirs: s.Format, Newest: 1}
	}
	return s, nil
}

// Bodies names the masked words of all ready messages in a state, which nobody needs once the
// sums are known.
func Bodies(kept secret.Bytes) ([]wire.Hash, error) {
	s, err := decodeState(kept)
	if err != nil {
		return nil, err
	}
	var bodies []wire.Hash
	for i, raw := range s.Messages {
		h, err := DecodeHead(raw)
		if err != nil {
			return nil, fmt.Errorf("masked: the state of a round: message %d: %w", i+1, err)
		}
		if h.Body != nil {
			bodies = append(bodies, *h.Body)
		}
	}
	return bodies, nil
}
