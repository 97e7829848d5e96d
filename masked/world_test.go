package masked

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"testing"

	"concord/identity"
	"concord/secret"
	"concord/wire"
)

// people are identities that tests share: keys take time to make.
var people = func() func(n int) []*identity.Identity {
	var lock sync.Mutex
	var made []*identity.Identity
	return func(n int) []*identity.Identity {
		lock.Lock()
		defer lock.Unlock()
		for len(made) < n {
			id, err := identity.New(identity.RoleParty, fmt.Sprintf("Hospital %d", len(made)+1), nil)
			if err != nil {
				panic(err)
			}
			made = append(made, id)
		}
		return made[:n]
	}
}()

// names of statistics in tests.
func numbered(n int, bound float64) Statistics {
	return Statistics{N: n, Name: func(i int) string { return fmt.Sprintf("sum %d", i+1) }, Bound: bound}
}

func config(ids []*identity.Identity, colluders int, s Statistics) Config {
	c := Config{Study: wire.HashOf([]byte("study")), Epoch: wire.HashOf([]byte("epoch")), Stage: 1, Colluders: colluders, Statistics: s}
	for _, id := range ids {
		c.Parties = append(c.Parties, id.Statement)
	}
	return c
}

// site is a party in a test: its round and the words that it keeps.
type site struct {
	*Round
	values []float64
	words  map[wire.Hash][]byte
}

func newSite(t fataler, c Config, id *identity.Identity, values []float64) *site {
	t.Helper()
	r, err := New(c, id)
	if err != nil {
		t.Fatal(err)
	}
	return &site{r, values, map[wire.Hash][]byte{}}
}

// fataler is what testing.T and rapid.T have in common.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func (s *site) open(h wire.Hash) (io.ReadCloser, error) {
	b, ok := s.words[h]
	if !ok {
		return nil, errors.New("no such words")
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// step does what is due without others and reports whether anything was.
func (s *site) step(t fataler) bool {
	t.Helper()
	switch s.Next().Due {
	case DueReady:
		v, err := Encode(s.Config.Statistics, s.values)
		if err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if err := s.Ready(v, &body); err != nil {
			t.Fatal(err)
		}
		s.words[wire.HashOf(body.Bytes())] = body.Bytes()
		return true
	case DueReveal:
		if err := s.Reveal(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	return false
}

// give carries one message of s, its own or a forwarded one, to another site.
func (s *site) give(to *site, m Message) error {
	if m.Body == nil {
		return to.Take(m.Head, nil)
	}
	body := s.words[*m.Body]
	err := to.Take(m.Head, bytes.NewReader(body))
	if err == nil {
		to.words[*m.Body] = body
	}
	return err
}

// reload is a crash: all that is left are the state and the words.
func (s *site) reload(t fataler, c Config) {
	t.Helper()
	r, err := Resume(c, s.id, s.State())
	if err != nil {
		t.Fatal(err)
	}
	s.Round = r
}

// run exchanges everything among the sites until nothing changes.
func run(t fataler, sites []*site) {
	t.Helper()
	for range 100 {
		changed := false
		for _, s := range sites {
			for s.step(t) {
				changed = true
			}
		}
		for _, from := range sites {
			for _, m := range from.Outbox() {
				for _, to := range sites {
					before := len(to.messages)
					if err := from.give(to, m); err != nil && !errors.Is(err, ErrLeft) {
						t.Fatalf("%v takes a message of %v: %v", to.id, from.id, err)
					}
					changed = changed || len(to.messages) > before
				}
			}
		}
		if !changed {
			return
		}
	}
	t.Fatal("the sites never come to rest")
}

// values of a test, all below the bound and with many different exponents.
func someValues(party, n int, bound float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = bound * math.Sin(float64(1+party*n+i)*1.7) * math.Pow(2, float64(-(i%40)))
	}
	return v
}

func sitesOf(t fataler, ids []*identity.Identity, c Config) []*site {
	t.Helper()
	var sites []*site
	for i, id := range ids {
		sites = append(sites, newSite(t, c, id, someValues(i, c.Statistics.N, c.Statistics.Bound)))
	}
	return sites
}

// checkSums says that a site's sums are those of the values of the others in its set.
func checkSums(t fataler, s *site, of []*site) []Word {
	t.Helper()
	sums, err := s.Sums(s.open)
	if err != nil {
		t.Fatal(err)
	}
	var words []Word
	for i := range s.Config.Statistics.N {
		var want Word
		for _, o := range of {
			if !contains(sums.Set, o.me) {
				t.Fatalf("%v is not in the sums", o.id)
			}
			w, _ := Fixed(o.values[i])
			want = want.Add(w)
		}
		if got := sums.At(i); got != want {
			t.Fatalf("sum %d is %v, want %v", i, got, want)
		}
		words = append(words, sums.At(i))
	}
	if len(sums.Set) != len(of) {
		t.Fatalf("sums over %d parties, want %d", len(sums.Set), len(of))
	}
	return words
}

func TestSums(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, n := range []int{4, 5, 7} {
		for _, words := range []int{1, 2, chunkWords, chunkWords + 1, 64*chunkWords + 3} {
			if n > 4 && words > chunkWords+1 {
				continue
			}
			t.Run(fmt.Sprintf("%d parties %d words", n, words), func(t *testing.T) {
				ids := people(n)
				sites := sitesOf(t, ids, config(ids, 1, numbered(words, 1e8)))
				run(t, sites)
				for _, s := range sites {
					if step := s.Next(); step.Due != DueNothing || len(step.Problems) != 0 {
						t.Fatalf("%+v", step)
					}
					checkSums(t, s, sites)
				}
			})
		}
	}
}

func TestRestart(t *testing.T) {
	ids := people(6)
	c := config(ids, 1, numbered(50, 1e6))
	sites := sitesOf(t, ids, c)
	here, gone := sites[:5], sites[5]
	run(t, here)
	for _, s := range here {
		step := s.Next()
		if step.Due != DueOthers || step.Kind != KindReady || !slices.Equal(step.Awaited, []wire.Hash{gone.me}) {
			t.Fatalf("%+v", step)
		}
	}
	for i, s := range here {
		if err := s.Without(here[(i+1)%5].me); err == nil {
			t.Fatal("a party whose message is here was left out")
		}
		if err := s.Without(gone.me); err != nil {
			t.Fatal(err)
		}
		if i < 4 {
			run(t, here)
			if step := s.Next(); step.Due != DueOthers || step.Kind != KindAbsent || len(step.Awaited) != 4-i || step.Attempt != 1 {
				t.Fatalf("%+v", step)
			}
			if step := here[4].Next(); !slices.Equal(step.Proposed, []wire.Hash{gone.me}) {
				t.Fatalf("%+v", step)
			}
		}
	}
	run(t, here)
	for _, s := range here {
		if step := s.Next(); step.Due != DueNothing || step.Attempt != 2 {
			t.Fatalf("%+v", step)
		}
		checkSums(t, s, here)
	}
	gone.step(t)
	for _, m := range gone.Outbox() {
		for _, s := range here {
			before := s.State()
			if err := gone.give(s, m); !errors.Is(err, ErrLeft) {
				t.Fatalf("a late message: %v", err)
			}
			if !bytes.Equal(before.Reveal(), s.State().Reveal()) {
				t.Fatal("a late message left a trace")
			}
		}
	}
	for _, kind := range []string{KindAbsent, KindReady, KindReveal} {
		for _, s := range here {
			for _, m := range s.Outbox() {
				if m.Kind != kind {
					continue
				}
				if err := s.give(gone, m); err != nil && !errors.Is(err, ErrLeft) {
					t.Fatal(err)
				}
			}
		}
		want := DueLeft
		if kind == KindReveal {
			want = DueNothing
		}
		if step := gone.Next(); step.Due != want {
			t.Fatalf("%+v", step)
		}
	}
	checkSums(t, gone, here)
	if err := gone.Reveal(); !errors.Is(err, ErrLeft) {
		t.Fatal(err)
	}
	if err := gone.Without(here[0].me); !errors.Is(err, ErrLeft) {
		t.Fatal(err)
	}
}

// TestCrash takes everything but state and words from every site after every step.
func TestCrash(t *testing.T) {
	ids := people(5)
	c := config(ids, 1, numbered(20, 1))
	sites := sitesOf(t, ids, c)
	crash := func() {
		for _, s := range sites {
			before := s.Outbox()
			s.reload(t, c)
			after := s.Outbox()
			if !slices.EqualFunc(before, after, func(a, b Message) bool { return bytes.Equal(a.Head, b.Head) }) {
				t.Fatal("a message is another after a crash")
			}
		}
	}
	for range 3 {
		for _, from := range sites {
			from.step(t)
			crash()
			for _, m := range from.Outbox() {
				for _, to := range sites {
					if err := from.give(to, m); err != nil {
						t.Fatal(err)
					}
					to.reload(t, c)
				}
			}
		}
	}
	for _, s := range sites {
		checkSums(t, s, sites)
	}
}

var newSecret = secret.NewBytes
