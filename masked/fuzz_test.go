package masked

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"concord/identity"
	"concord/wire"
)

func fuzzSites(f *testing.F) []*site {
	ids := slices.SortedFunc(maps.Values(frozenIdentities(f)), func(a, b *identity.Identity) int {
		return strings.Compare(a.Statement.Name, b.Statement.Name)
	})
	c := Config{Study: wire.Hash{1}, Epoch: wire.Hash{2}, Stage: 1, Colluders: 1, Statistics: numbered(2, 10)}
	for _, id := range ids {
		c.Parties = append(c.Parties, id.Statement)
	}
	var sites []*site
	for _, id := range ids {
		sites = append(sites, newSite(f, c, id, []float64{1, 2}))
	}
	run(f, sites[:4])
	for _, s := range sites[:4] {
		if err := s.Without(sites[4].me); err != nil {
			f.Fatal(err)
		}
	}
	run(f, sites[:4])
	return sites
}

func FuzzDecodeHead(f *testing.F) {
	for _, m := range fuzzSites(f)[0].messages {
		f.Add(m.raw)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHead(b)
		if err == nil && !bytes.Equal(h.Encode(), b) {
			t.Fatal("accepted another spelling")
		}
	})
}

// FuzzTake signs whatever comes as a member would, so that what lies behind the signature
// is reached.
func FuzzTake(f *testing.F) {
	sites := fuzzSites(f)
	for _, m := range sites[0].messages {
		f.Add(m.raw, []byte{})
	}
	f.Add(sites[1].messages[0].raw, sites[1].words[*sites[1].messages[0].Body])
	c := sites[0].Config
	ids := map[wire.Hash]*identity.Identity{}
	for _, s := range sites {
		ids[s.me] = s.id
	}
	f.Fuzz(func(t *testing.T, b, words []byte) {
		r, err := Resume(c, sites[0].id, sites[0].State())
		if err != nil {
			t.Fatal(err)
		}
		h, err := DecodeHead(b)
		if err == nil && ids[h.Sender] != nil {
			h.Signature = ids[h.Sender].Sign(wire.SignPool, h.signedPart())
			b = h.Encode()
		}
		before := len(r.messages)
		if err := r.Take(b, bytes.NewReader(words)); err != nil && len(r.messages) != before {
			t.Fatal("an error left a trace")
		}
		r.Next()
		if _, err := Resume(c, sites[0].id, r.State()); err != nil {
			t.Fatalf("a state that was written is not read: %v", err)
		}
	})
}

func FuzzResume(f *testing.F) {
	s := fuzzSites(f)[0]
	f.Add(s.State().Reveal())
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := Resume(s.Config, s.id, newSecret(bytes.Clone(b))); err == nil {
			r.Next()
		}
	})
}

func FuzzDecodeLedger(f *testing.F) {
	l := new(Ledger)
	l.Add(Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: wire.Hash{9}, Stage: 1})
	f.Add(l.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeLedger(b)
		if err != nil {
			return
		}
		if !bytes.Equal(l.Encode(), b) {
			t.Fatal("accepted another spelling")
		}
		l.Judge(Answered{Topic: "figures", Set: set(1, 2, 3, 4)}, wire.Hash{1}, 1, called)
	})
}
