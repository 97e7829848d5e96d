package masked

import (
	"bytes"
	"encoding/base64"
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
		before := r.State()
		err = r.Take(b, bytes.NewReader(words))
		after := r.State()
		if err != nil && !bytes.Equal(before.Reveal(), after.Reveal()) {
			t.Fatal("an error left a trace")
		}
		if err == nil {
			checkTaken(t, r, b)
		}
		checkResumes(t, r)
	})
}

// checkTaken says what must be true of a message that was taken, and that it has no effect
// a second time.
func checkTaken(t *testing.T, r *Round, raw []byte) {
	t.Helper()
	h, err := DecodeHead(raw)
	if err != nil {
		t.Fatalf("a message was taken that is not read: %v", err)
	}
	member := r.statements[h.Sender]
	switch {
	case h.Study != r.Study || h.Epoch != r.Epoch || h.Stage != r.Stage || h.Statistics != r.statistics || h.Words != r.Config.Statistics.N:
		t.Fatal("a message of another round was taken")
	case member == nil || wire.Verify(member.SigningKey, wire.SignPool, h.signedPart(), h.Signature) != nil:
		t.Fatal("a message was taken that no member signed")
	case contains(h.Without, h.Sender) || contains(h.Next, h.Sender):
		t.Fatal("a message was taken of a party that is not in its set")
	case len(r.all)-max(len(h.Without), len(h.Next))-r.Colluders < LeastBeyond:
		t.Fatal("a message was taken for a set that is too small")
	}
	before := r.State()
	if err := r.Take(raw, nil); err != nil || !bytes.Equal(before.Reveal(), r.State().Reveal()) {
		t.Fatalf("the same message again: %v, or it left a trace", err)
	}
}

// checkResumes says that a round goes on after a crash where it was, with a set that is
// large enough.
func checkResumes(t *testing.T, r *Round) {
	t.Helper()
	state := r.State()
	again, err := Resume(r.Config, r.id, state)
	if err != nil {
		t.Fatalf("a state that was written is not read: %v", err)
	}
	if !bytes.Equal(again.State().Reveal(), state.Reveal()) {
		t.Fatal("a state that was read is written otherwise")
	}
	one, other := r.Next(), again.Next()
	if one.Due != other.Due || one.Attempt != other.Attempt || one.Missing != other.Missing || !slices.Equal(one.Set, other.Set) || !slices.Equal(one.Awaited, other.Awaited) {
		t.Fatalf("after a crash %+v is due, before it was %+v", other, one)
	}
	if !within(one.Set, r.all) || len(one.Set)-r.Colluders < LeastBeyond {
		t.Fatalf("the set has %d parties of %d", len(one.Set), len(r.all))
	}
}

func FuzzResume(f *testing.F) {
	s := fuzzSites(f)[0]
	f.Add(s.State().Reveal())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Resume(s.Config, s.id, newSecret(bytes.Clone(b)))
		if err != nil {
			return
		}
		for _, m := range r.messages {
			if !bytes.Contains(b, []byte(base64.StdEncoding.EncodeToString(m.raw))) {
				t.Fatal("a round has a message that its state has not")
			}
			checkTaken(t, r, m.raw)
		}
		checkResumes(t, r)
	})
}

func FuzzDecodeLedger(f *testing.F) {
	l := new(Ledger)
	l.Add(Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: wire.Hash{9}, Stage: 1})
	f.Add(l.Encode())
	l.Add(Answered{Topic: "figures", Set: set(1, 2, 3, 4, 6, 7, 8, 9), Source: wire.Hash{9}, Stage: 2})
	l.Add(Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: wire.Hash{8}, Stage: 3})
	f.Add(l.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeLedger(b)
		if err != nil {
			return
		}
		if !bytes.Equal(l.Encode(), b) {
			t.Fatal("accepted another spelling")
		}
		me := wire.Hash{1}
		for _, q := range []Answered{
			{Topic: "figures", Set: set(1, 2, 3, 4)},
			{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4, 5), Source: wire.Hash{9}},
		} {
			v := l.Judge(q, me, 1, called)
			if v.Never != nil {
				t.Fatalf("a set of %d parties, one of which colludes: %v", len(q.Set), v.Never)
			}
			if v.OK() != (len(v.Groups) == 0) {
				t.Fatalf("%d groups can be computed, and the ledger says %q", len(v.Groups), v.Reveals)
			}
			for _, g := range v.Groups {
				if CheckSet(len(g), 1) == nil {
					t.Fatalf("a group of %d is large enough", len(g))
				}
			}
			// What was answered shows nothing when it is asked again.
			if v.OK() {
				l.Add(q)
				if v := l.Judge(q, me, 1, called); !v.OK() {
					t.Fatalf("the same question again: %+v", v)
				}
			}
		}
	})
}
