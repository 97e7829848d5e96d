package masked

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"concord/identity"
	"concord/secret"
	"concord/wire"
)

// vectors are what testdata/vectors.py computes from docs/formats.md. They are frozen: a
// program that gives others does not sum with one that gives these.
type vectors struct {
	Study, Epoch wire.Hash
	Stage        int
	Colluders    int
	Names        []string
	Bound        float64
	Sets         []struct {
		Without   []string
		Threshold int
		Parties   []struct {
			Identity     string
			Values       []float64
			Coefficients []string
			Words, Head  string
			Shares       []string
		}
		Sums []string
	}
}

func frozenIdentity(t testing.TB, name string) *identity.Identity {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	id, err := identity.Decode(secret.NewBytes(b))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func frozenIdentities(t testing.TB) map[string]*identity.Identity {
	ids := make(map[string]*identity.Identity)
	for i := 1; i <= 5; i++ {
		name := fmt.Sprintf("identity%d.json", i)
		ids[name] = frozenIdentity(t, name)
	}
	return ids
}

func TestVectors(t *testing.T) {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	ids := frozenIdentities(t)
	c := Config{
		Study: v.Study, Epoch: v.Epoch, Stage: v.Stage, Colluders: v.Colluders,
		Statistics: Statistics{N: len(v.Names), Name: func(i int) string { return v.Names[i] }, Bound: v.Bound},
	}
	for _, id := range ids {
		c.Parties = append(c.Parties, id.Statement)
	}
	if len(v.Sets) != 2 {
		t.Fatalf("%d sets", len(v.Sets))
	}
	for _, set := range v.Sets {
		var without []wire.Hash
		for _, name := range set.Without {
			without = append(without, ids[name].Statement.Fingerprint())
		}
		var sites []*site
		for _, p := range set.Parties {
			r, err := New(c, ids[p.Identity])
			if err != nil {
				t.Fatal(err)
			}
			g, err := r.group(without)
			if err != nil {
				t.Fatal(err)
			}
			if g.threshold != set.Threshold {
				t.Fatalf("threshold %d, want %d", g.threshold, set.Threshold)
			}
			// As if all had signed to go on with this set.
			for _, m := range g.members {
				first := r.groups[setHash(r.Epoch, r.all)]
				if len(without) > 0 {
					if first.toward[g.hash] == nil {
						first.toward[g.hash] = make(map[wire.Hash]*message)
					}
					first.toward[g.hash][m] = &message{Head: &Head{}}
				}
			}
			var coefficients []*big.Int
			for _, c := range p.Coefficients {
				n, _ := new(big.Int).SetString(c, 16)
				coefficients = append(coefficients, n)
			}
			vector, err := Encode(c.Statistics, p.Values)
			if err != nil {
				t.Fatal(err)
			}
			var body bytes.Buffer
			if err := r.ready(g, vector, &body, coefficients); err != nil {
				t.Fatal(err)
			}
			if hex.EncodeToString(body.Bytes()) != p.Words {
				t.Fatalf("%s: the words are others", p.Identity)
			}
			if got := string(r.messages[0].signedPart()); got != p.Head {
				t.Fatalf("%s: the message is another:\n%s\n%s", p.Identity, got, p.Head)
			}
			sites = append(sites, &site{r, p.Values, map[wire.Hash][]byte{wire.HashOf(body.Bytes()): body.Bytes()}})
		}
		exchange(t, sites, sites, KindReady)
		for i, s := range sites {
			if err := s.Reveal(); err != nil {
				t.Fatal(err)
			}
			for j, m := range s.current().members { // party i's share of j's key
				for k := range sites {
					if sites[k].me != m {
						continue
					}
					got := hex.EncodeToString(s.current().reveal[s.me].Opened[shareBytes*j:][:shareBytes])
					if want := set.Parties[k].Shares[i]; got != want {
						t.Fatalf("share %d of %d is %s, want %s", i, j, got, want)
					}
				}
			}
		}
		exchange(t, sites, sites, KindReveal)
		for _, s := range sites {
			sums, err := s.Sums(s.open)
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range set.Sums {
				if w := sums.At(i); fmt.Sprintf("%016x%016x", w.Hi, w.Lo) != want {
					t.Fatalf("sum %d is %x, want %s", i, w, want)
				}
			}
		}
	}
}
