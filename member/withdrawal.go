package member

import (
	"fmt"
	"time"

	"concord/contract"
	"concord/identity"
	"concord/wire"
)

// MaxWithdrawalBytes bounds an encoded withdrawal receipt.
const MaxWithdrawalBytes = 1 << 20

// Withdrawal is the analyst's signed word on a party that has left: what was deleted,
// and what is known to remain.
type Withdrawal struct {
	Format int       `json:"format"`
	Study  wire.Hash `json:"study"`
	// Epoch is the one that the amendment led to.
	Epoch wire.Hash `json:"epoch"`
	Party wire.Hash `json:"party"`
	// Kind is AmendWithdraw or AmendRemove.
	Kind    string    `json:"kind"`
	Deleted []Deleted `json:"deleted"`
	// Models are those that the party's rows went into and that were released.
	Models []ReleasedModel `json:"models,omitempty"`
	// Relayed: the server had passed the party's setup bundle to the others.
	Relayed bool `json:"relayed,omitempty"`
	// Pooled: the server had passed messages of masked sums on, of which this party's may
	// be in the figures that the others pooled.
	Pooled bool `json:"pooled,omitempty"`
	// Ended says why the study has ended, or is empty.
	Ended string `json:"ended,omitempty"`
	// Time is the analyst's clock, in UTC and whole seconds.
	Time      time.Time `json:"time"`
	Signature []byte    `json:"signature,omitempty"`
}

// Deleted is one bundle that was deleted.
type Deleted struct {
	Kind  string `json:"kind"`
	Round int    `json:"round"`
	// Sender sent it; Recipient is whom a result was for.
	Sender    wire.Hash `json:"sender"`
	Recipient wire.Hash `json:"recipient,omitzero"`
	Manifest  wire.Hash `json:"manifest"`
	Bytes     int64     `json:"bytes"`
}

// ReleasedModel is a model that was released to parties.
type ReleasedModel struct {
	Round int `json:"round"`
	// Parties is to how many.
	Parties int `json:"parties"`
}

// Sign signs the receipt as the analyst.
func (w *Withdrawal) Sign(id *identity.Identity) {
	w.Signature = id.Sign(wire.SignWithdrawal, w.signedPart())
}

// Encode returns the canonical encoding.
func (w *Withdrawal) Encode() []byte {
	b, err := wire.Canonical(w)
	if err != nil { // hashes, numbers, texts and a time in UTC always encode
		panic("member: " + err.Error())
	}
	return b
}

func (w Withdrawal) signedPart() []byte {
	w.Signature = nil
	return w.Encode()
}

// DecodeWithdrawal reads a withdrawal receipt and checks the analyst's signature.
func DecodeWithdrawal(b []byte, analyst *identity.Statement) (*Withdrawal, error) {
	if len(b) > MaxWithdrawalBytes {
		return nil, fmt.Errorf("member: a withdrawal receipt has %d bytes, at most %d are read", len(b), MaxWithdrawalBytes)
	}
	w := new(Withdrawal)
	if err := wire.DecodeFormat(b, "member: withdrawal receipt", w, &w.Format); err != nil {
		return nil, err
	}
	return w, wire.Verify(analyst.SigningKey, wire.SignWithdrawal, w.signedPart(), w.Signature)
}

// Remains says in plain words what a departure does not undo.
func (w *Withdrawal) Remains(c *contract.Contract) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, m := range w.Models {
		what := "the model"
		if c.Protocol == "nri" {
			what = "answers of the model"
		}
		add("round %d was released to %d parties: who has fetched it keeps %s, which this party's rows went into", m.Round, m.Parties, what)
		add("its figures (metrics, numbers of rows) stay with whoever has read them")
	}
	if len(w.Models) == 0 {
		add("no model that this party's rows went into was released")
	}
	add("the anchor stays: this party knows it, and the others go on using it; this party together with the analyst could undo their projections")
	if c.Anchor.Pieces() && w.Relayed {
		add("the piece of the anchor made of this party's rows has been relayed to the other parties: who has fetched it keeps near-raw rows")
	}
	if w.Pooled {
		add("figures that the parties have pooled by masked sums (means, deviations, shares of levels, common directions) stay with them and in the models: this party's rows went into those of every set that it revealed for; nobody has a part of its own to take out")
	}
	if c.Protocol == "nri" {
		add("nobody kept this party's basis; what left could be put beside its rows by the analyst while it was there")
	}
	add("copies that the analyst's office made of its disk or its backups before now are not reached by this program")
	add("receipts, signed records and the audit log stay: they name hashes, sizes and times, no data")
	if w.Ended != "" {
		add("the study has ended: %s", w.Ended)
	}
	return out
}
