package release

import (
	"fmt"

	"concord/wire"
)

// MaxRoundBytes bounds an encoded record of a round.
const MaxRoundBytes = 1 << 20

// Round says what a model was made of, so that it can be made again: the contributions in
// the order in which they were aligned, the epoch from which chance is drawn, and hashes of
// what came of it. It is the member round.json of results after the first round.
type Round struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	// Round counts the models of a study, from 0.
	Round int `json:"round"`
	// Epoch is the one in which it was made.
	Epoch wire.Hash `json:"epoch"`
	// Parties are those whose rows the model was made of.
	Parties []RoundParty `json:"parties"`
	// Late are those that were aligned to its target afterwards; the model does not
	// have their rows.
	Late []RoundParty `json:"late,omitempty"`
	// Base is the round from which the Gᵢ of the parties that it had were taken, where
	// only the model was trained again; nil where all were aligned anew.
	Base *int `json:"base,omitempty"`
	// Target is the SHA-256 of target.npy, the mean of the aligned anchors; Model that
	// of h.onnx.
	Target wire.Hash `json:"target"`
	Model  wire.Hash `json:"model"`
	// Program and Backend are what computed it.
	Program string `json:"program,omitempty"`
	Backend string `json:"backend,omitempty"`
}

// RoundParty is one party of a round.
type RoundParty struct {
	// Party is its first fingerprint in the study.
	Party wire.Hash `json:"party"`
	// Contribution is the manifest of its contribution, G the SHA-256 of its change of
	// basis as .npy.
	Contribution wire.Hash `json:"contribution"`
	G            wire.Hash `json:"g"`
}

// Encode returns the canonical encoding.
func (r *Round) Encode() []byte {
	b, err := wire.Canonical(r)
	if err != nil { // hashes, numbers and texts always encode
		panic("release: " + err.Error())
	}
	return b
}

// DecodeRound reads what Encode wrote.
func DecodeRound(b []byte) (*Round, error) {
	if len(b) > MaxRoundBytes {
		return nil, fmt.Errorf("release: a record of a round has %d bytes, at most %d are read", len(b), MaxRoundBytes)
	}
	r := new(Round)
	return r, wire.DecodeFormat(b, "release: record of a round", r, &r.Format)
}

// Has reports whether a party's rows are in the model.
func (r *Round) Has(party wire.Hash) bool {
	for _, p := range r.Parties {
		if p.Party == party {
			return true
		}
	}
	return false
}
