package masked

import (
	"bytes"
	"fmt"
	"slices"

	"concord/wire"
)

// MaxHeadBytes bounds an encoded head: the shares for 500 parties and a list of those that
// are left out take less.
const MaxHeadBytes = 256 << 10

// Kinds of messages.
const (
	KindReady  = "ready"  // the masked vector, and the shares of the key that is also on it
	KindReveal = "reveal" // the sender's shares of all keys
	KindAbsent = "absent" // the sender goes on with fewer parties
)

// Head is a message; that of kind ready has its masked words besides, as a body. It is
// signed by itself, so that another may forward it. Everything in it may be seen by every
// party of the study, and by nobody else.
type Head struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	Epoch  wire.Hash `json:"epoch"`
	// Stage is the round's.
	Stage int `json:"stage"`
	// Statistics is the hash of their names, Words their number.
	Statistics wire.Hash `json:"statistics"`
	Words      int       `json:"words"`
	Sender     wire.Hash `json:"sender"`
	Kind       string    `json:"kind"`
	// Without are the parties of the round that are not in the message's set, sorted.
	Without []wire.Hash `json:"without,omitempty"`
	// Body is the SHA-256 of a ready message's words: Words × 16 bytes, little endian.
	Body *wire.Hash `json:"body,omitempty"`
	// Key commits to the sender's own key; Shares has 64 bytes for each member of the set
	// in order: that member's share, encrypted for it alone, and a commitment to it.
	Key    *wire.Hash `json:"key,omitempty"`
	Shares []byte     `json:"shares,omitempty"`
	// Seen has the SHA-256 of each member's ready head in order, Opened the sender's share of
	// each member's key: 32 bytes each.
	Seen   []byte `json:"seen,omitempty"`
	Opened []byte `json:"opened,omitempty"`
	// Next are all parties of the round that the sender goes on without, sorted: those of
	// Without and more.
	Next []wire.Hash `json:"next,omitempty"`
	// Revealed says that the sender of absent has revealed for the set that it leaves, which
	// it may when so many others have left it that it never opens.
	Revealed  bool   `json:"revealed,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

// Encode returns the canonical encoding.
func (h *Head) Encode() []byte {
	b, err := wire.Canonical(h)
	if err != nil { // hashes, numbers, texts and bytes always encode
		panic("masked: " + err.Error())
	}
	return b
}

func (h Head) signedPart() []byte {
	h.Signature = nil
	return h.Encode()
}

// DecodeHead reads what Encode wrote and checks it by itself, but not its signature:
// [Round.Take] does, and says whether it belongs to a round.
func DecodeHead(b []byte) (*Head, error) {
	if len(b) > MaxHeadBytes {
		return nil, fmt.Errorf("masked: a message has %d bytes, at most %d are read", len(b), MaxHeadBytes)
	}
	if err := wire.CheckFormat(b, "masked: a message", 1); err != nil {
		return nil, err
	}
	h := new(Head)
	if err := wire.DecodeCanonical(b, h); err != nil {
		return nil, fmt.Errorf("masked: a message: %w", err)
	}
	if h.Format != 1 {
		return nil, &wire.FormatError{What: "masked: a message", Theirs: h.Format, Newest: 1}
	}
	return h, h.check()
}

// check says what is wrong with a head by itself.
func (h *Head) check() error {
	switch {
	case h.Stage < 1 || h.Stage > MaxStages:
		return fmt.Errorf("masked: a message is of stage %d, must be 1 to %d", h.Stage, MaxStages)
	case h.Words < 1 || h.Words > MaxWords:
		return fmt.Errorf("masked: a message is of %d words, must be 1 to %d", h.Words, MaxWords)
	case !ascending(h.Without) || !ascending(h.Next):
		return fmt.Errorf("masked: a message lists parties twice or out of order")
	case len(h.Signature) != 64:
		return fmt.Errorf("masked: a message's signature has %d bytes, must have 64", len(h.Signature))
	}
	var ready, reveal, absent bool
	switch h.Kind {
	case KindReady:
		ready = true
	case KindReveal:
		reveal = true
	case KindAbsent:
		absent = true
	default:
		return fmt.Errorf("masked: a message is of kind %q, must be %s, %s or %s", h.Kind, KindReady, KindReveal, KindAbsent)
	}
	if ready != (h.Body != nil) || ready != (h.Key != nil) || ready != (len(h.Shares) > 0) ||
		reveal != (len(h.Seen) > 0) || reveal != (len(h.Opened) > 0) || absent != (len(h.Next) > 0) || h.Revealed && !absent {
		return fmt.Errorf("masked: a message of kind %s has fields of another kind, or lacks its own", h.Kind)
	}
	return nil
}

func ascending(list []wire.Hash) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

func compare(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) }

// contains reports whether a sorted list has h.
func contains(list []wire.Hash, h wire.Hash) bool {
	_, ok := slices.BinarySearchFunc(list, h, compare)
	return ok
}

// within reports whether all of a sorted list are in another.
func within(some, all []wire.Hash) bool {
	for _, h := range some {
		if !contains(all, h) {
			return false
		}
	}
	return true
}

// difference are those of a sorted list that are not in another.
func difference(all, without []wire.Hash) []wire.Hash {
	var left []wire.Hash
	for _, h := range all {
		if !contains(without, h) {
			left = append(left, h)
		}
	}
	return left
}
