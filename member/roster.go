package member

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/scrypt"

	"concord/contract"
	"concord/identity"
	"concord/wire"
)

// Roster is the closed list of who takes part: the analyst and the parties,
// sorted by fingerprint. Number counts the rosters of a study from 1. Make one with
// NewRoster; nothing in it may change afterwards.
type Roster struct {
	Number  int
	Members []*identity.Statement
	// prints and encoded are the members' fingerprints and encodings, computed
	// once: with hundreds of parties they are asked for all the time.
	prints  []wire.Hash
	encoded [][]byte
}

// NewRoster sorts the members and checks that they make a study under c: one
// analyst, as many parties as the contract says, no name, signing key, mask key
// or TLS key twice. A later roster than the first, to which people agree anew, may have
// more parties or fewer than the contract says, and two at least.
func NewRoster(c *contract.Contract, number int, members []*identity.Statement) (*Roster, error) {
	if number == 1 {
		return newRoster(number, members, c.Parties, c.Parties)
	}
	return newRoster(number, members, 2, contract.MaxParties)
}

// newRoster is NewRoster with bounds on the number of parties.
func newRoster(number int, members []*identity.Statement, least, most int) (*Roster, error) {
	type entry struct {
		statement *identity.Statement
		encoded   []byte
		print     wire.Hash
	}
	entries := make([]entry, len(members))
	for i, s := range members {
		b := s.Encode()
		entries[i] = entry{s, b, wire.HashOf(b)}
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.print[:], b.print[:]) })
	r := &Roster{Number: number}
	for _, e := range entries {
		r.Members, r.prints, r.encoded = append(r.Members, e.statement), append(r.prints, e.print), append(r.encoded, e.encoded)
	}
	if number < 1 {
		return nil, fmt.Errorf("member: roster number is %d, must be at least 1", number)
	}
	analysts := 0
	for _, s := range r.Members {
		switch s.Role {
		case identity.RoleAnalyst:
			analysts++
		case identity.RoleParty:
		default:
			return nil, fmt.Errorf("member: %q is an %s, which no roster holds", s.Name, s.Role)
		}
	}
	if parties := len(r.Members) - analysts; analysts != 1 || parties < least || parties > most {
		want := fmt.Sprintf("the contract says 1 and %d", least)
		if least != most {
			want = fmt.Sprintf("must have 1 and %d to %d", least, most)
		}
		return nil, fmt.Errorf("member: the roster has %d analysts and %d parties, %s", analysts, parties, want)
	}
	for i, s := range r.Members {
		for _, other := range r.Members[:i] {
			if what := SharedKey(other, s); what != "" {
				return nil, fmt.Errorf("member: %q and %q have the same %s", other.Name, s.Name, what)
			}
		}
	}
	return r, nil
}

// SharedKey names what two participants may not share and do, or returns "".
// Names that differ only in case sound alike on the telephone and count as the
// same.
func SharedKey(a, b *identity.Statement) string {
	switch {
	case strings.EqualFold(a.Name, b.Name):
		return "name"
	case bytes.Equal(a.SigningKey, b.SigningKey):
		return "signing key"
	case bytes.Equal(a.MaskKey, b.MaskKey):
		return "mask key"
	case a.TLSKey == b.TLSKey:
		return "TLS key"
	case a.Recipient == b.Recipient:
		return "age recipient"
	}
	return ""
}

// Analyst returns the analyst's statement.
func (r *Roster) Analyst() *identity.Statement {
	return r.Members[slices.IndexFunc(r.Members, func(s *identity.Statement) bool { return s.Role == identity.RoleAnalyst })]
}

// Parties returns the parties' statements in the roster's order.
func (r *Roster) Parties() []*identity.Statement {
	return slices.DeleteFunc(slices.Clone(r.Members), func(s *identity.Statement) bool { return s.Role != identity.RoleParty })
}

// Member returns the statement with a fingerprint, or ErrNotMember.
func (r *Roster) Member(fingerprint wire.Hash) (*identity.Statement, error) {
	r.index()
	i := slices.Index(r.prints, fingerprint)
	if i < 0 {
		return nil, fmt.Errorf("%w: %s", ErrNotMember, fingerprint.Short())
	}
	return r.Members[i], nil
}

// Fingerprint is that of the i-th member.
func (r *Roster) Fingerprint(i int) wire.Hash {
	r.index()
	return r.prints[i]
}

// index computes what NewRoster has computed, for a roster that a test wrote down.
func (r *Roster) index() {
	if len(r.prints) == len(r.Members) {
		return
	}
	r.prints, r.encoded = nil, nil
	for _, s := range r.Members {
		b := s.Encode()
		r.prints, r.encoded = append(r.prints, wire.HashOf(b)), append(r.encoded, b)
	}
}

// Epoch binds everything that follows to a contract and a roster:
//
//	SHA-256("concord/epoch/v1\0" ‖ contract hash ‖ number ‖ count ‖ (length ‖ statement)…)
//
// with the statements sorted by fingerprint and the numbers as big-endian
// uint32.
func (r *Roster) Epoch(contract wire.Hash) wire.Hash {
	r.index()
	h := sha256.New()
	h.Write([]byte("concord/epoch/v1\x00"))
	h.Write(contract[:])
	u32 := func(n int) { h.Write(binary.BigEndian.AppendUint32(nil, uint32(n))) }
	u32(r.Number)
	u32(len(r.Members))
	for _, b := range r.encoded {
		u32(len(b))
		h.Write(b)
	}
	return wire.Hash(h.Sum(nil))
}

// words are the 2,048 English words of BIP 39 (MIT licence): four letters tell
// any two apart.
//
//go:embed words.txt
var words string

const (
	phraseWords = 12
	wordBits    = 11
)

// Phrase turns an epoch into the 12 words that people compare over a channel
// they trust: equal words mean equal contract, names and keys at both ends.
// The 132 bits are stretched by scrypt (N = 2¹⁵, r = 8, p = 1), so that somebody
// who looks for two rosters with one phrase pays for each try what a login
// costs: 2⁶⁶ of them are out of reach.
func Phrase(epoch wire.Hash) []string {
	const n, r, p = 1 << 15, 8, 1
	key, err := scrypt.Key(epoch[:], []byte("concord/phrase/v1"), n, r, p, (phraseWords*wordBits+7)/8)
	if err != nil { // the parameters are constants
		panic("member: " + err.Error())
	}
	list := strings.Fields(words)
	phrase := make([]string, phraseWords)
	for i := range phrase {
		index := 0
		for bit := i * wordBits; bit < (i+1)*wordBits; bit++ {
			index = index<<1 | int(key[bit/8]>>(7-bit%8))&1
		}
		phrase[i] = list[index]
	}
	return phrase
}

// SamePhrase compares what a person typed with the phrase: case and spacing do
// not matter, and four letters of a word are enough.
func SamePhrase(phrase []string, typed string) bool {
	got := strings.Fields(strings.ToLower(strings.NewReplacer(",", " ", "-", " ").Replace(typed)))
	if len(got) != len(phrase) {
		return false
	}
	for i, w := range phrase {
		if got[i] != w && (len(got[i]) < 4 || !strings.HasPrefix(w, got[i])) {
			return false
		}
	}
	return true
}

// ErrNotMember is returned when a fingerprint is not in the roster.
var ErrNotMember = errors.New("member: not a member of the roster")
