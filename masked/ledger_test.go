package masked

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "concord/internal/repeatable" // the same cases every time
	"concord/wire"
)

func set(parties ...int) []wire.Hash {
	var s []wire.Hash
	for _, p := range parties {
		s = append(s, wire.Hash{byte(p)})
	}
	slices.SortFunc(s, compare)
	return s
}

func called(p wire.Hash) string { return "Hospital " + string('A'-1+rune(p[0])) }

func TestLedger(t *testing.T) {
	old, corrected := wire.HashOf([]byte("old")), wire.HashOf([]byte("corrected"))
	me := wire.Hash{1}
	for _, test := range []struct {
		name      string
		answered  []Answered
		q         Answered
		colluders int
		want      string // part of Reveals, "" for none, "never"
	}{
		{"first", nil, Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: old}, 1, ""},
		{"three with one colluder", nil, Answered{Topic: "figures", Set: set(1, 2, 3), Source: old}, 1, "never"},
		{"three with none", nil, Answered{Topic: "figures", Set: set(1, 2, 3), Source: old}, 0, ""},
		{"again", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4), Source: old}}, Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: old}, 1, ""},
		{"corrected file", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4), Source: old}}, Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: corrected}, 1, "what changed in this site's data"},
		{"corrected file, another topic", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4), Source: old}}, Answered{Topic: "moments", Set: set(1, 2, 3, 4), Source: corrected}, 1, ""},
		{"one party fewer", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4, 5), Source: old}}, Answered{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4), Source: old}, 1, "Hospital E alone"},
		{"one party more", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4), Source: old}}, Answered{Topic: "figures", Set: set(1, 2, 3, 4, 5), Source: old}, 1, "Hospital E alone"},
		{"one for another", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4, 5), Source: old}}, Answered{Topic: "figures", Set: set(1, 2, 3, 4, 6), Source: old}, 1, "Hospital E alone; the figures of Hospital F alone"},
		{"one fewer, in the same round", []Answered{{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4, 5), Source: old}}, Answered{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4), Source: old}, 1, ""},
		{"the next stage of who went on", []Answered{
			{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4, 5), Source: old}, {Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4), Source: old},
		}, Answered{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4), Source: old}, 1, ""},
		{"the next stage of all", []Answered{
			{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4, 5), Source: old}, {Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4), Source: old},
		}, Answered{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4, 5), Source: old}, 1, "Hospital E alone"},
		{"one more, in the same round", []Answered{{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4), Source: old}}, Answered{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4, 5), Source: old}, 1, "Hospital E alone"},
		{"one fewer, in the same round, of other rows", []Answered{{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4, 5), Source: old}}, Answered{Topic: "figures", Stage: 1, Set: set(1, 2, 3, 4), Source: corrected}, 1, ""},
		{"two fewer", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4, 5, 6), Source: old}}, Answered{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4), Source: old}, 0, "Hospital E, Hospital F together"},
		{"three fewer, one colludes", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4, 5, 6, 7), Source: old}}, Answered{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4), Source: old}, 1, "Hospital E, Hospital F, Hospital G together"},
		{"four fewer, one colludes", []Answered{{Topic: "figures", Set: set(1, 2, 3, 4, 5, 6, 7, 8), Source: old}}, Answered{Topic: "figures", Stage: 2, Set: set(1, 2, 3, 4), Source: old}, 1, ""},
		// 1-2-3-4-5-6-7-8, then 1-2-3-4-9-10-11-12, then 5-6-7 with 9-10-11-12-1: no two differ by less
		// than three, all together show 8.
		{"by three sets", []Answered{
			{Topic: "figures", Set: set(1, 2, 3, 4, 5, 6, 7, 8), Source: old}, {Topic: "figures", Set: set(1, 2, 3, 4, 9, 10, 11, 12), Source: old},
		}, Answered{Topic: "figures", Set: set(1, 5, 6, 7, 9, 10, 11, 12), Source: old}, 0, "Hospital H alone"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := Ledger{}
			for _, a := range test.answered {
				l.Add(a)
			}
			v := l.Judge(test.q, me, test.colluders, called)
			switch {
			case test.want == "never":
				if v.Never == nil || v.OK() {
					t.Fatalf("%+v", v)
				}
			case test.want == "":
				if !v.OK() {
					t.Fatalf("%+v", v)
				}
			case v.OK() || !strings.Contains(v.Reveals, test.want):
				t.Fatalf("%+v", v)
			}
		})
	}
}

// TestLedgerRule draws questions that the ledger admits, and solves for every combination
// of their sums whether it has few parties: by elimination over the rationals modulo a large
// prime, once for each small group.
func TestLedgerRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const parties = 14
		var l Ledger
		me := wire.Hash{1}
		for range rapid.IntRange(1, 6).Draw(t, "questions") {
			var who []int
			for p := 1; p <= parties; p++ {
				if p == 1 || rapid.Bool().Draw(t, "in") {
					who = append(who, p)
				}
			}
			q := Answered{Topic: "figures", Stage: len(l.Answered) + 1, Set: set(who...)}
			if l.Judge(q, me, 0, called).OK() {
				l.Add(q)
			}
		}
		for a := 1; a <= parties; a++ {
			for b := a; b <= parties; b++ {
				if l.shows(parties, a, b) {
					t.Fatalf("sums over %v show %d and %d", l.Answered, a, b)
				}
			}
		}
	})
}

// shows reports whether a combination of the answered sums has no parties but a and b: the
// sums' indicators without the columns a and b are linearly dependent where they with them are not.
func (l *Ledger) shows(parties, a, b int) bool {
	rows := func(skip bool) [][]int64 {
		var m [][]int64
		for _, q := range l.Answered {
			row := make([]int64, parties)
			for p := 1; p <= parties; p++ {
				if contains(q.Set, wire.Hash{byte(p)}) && !(skip && (p == a || p == b)) {
					row[p-1] = 1
				}
			}
			m = append(m, row)
		}
		return m
	}
	return rank(rows(true)) < rank(rows(false))
}

// rank modulo the prime 2³¹ − 1, above any minor of such a 0/1 matrix of 6 rows.
func rank(m [][]int64) int {
	const prime = 1<<31 - 1
	r := 0
	for c := 0; len(m) > 0 && c < len(m[0]); c++ {
		p := slices.IndexFunc(m[r:], func(row []int64) bool { return row[c] != 0 })
		if p < 0 {
			continue
		}
		m[r], m[r+p] = m[r+p], m[r]
		inverse := int64(1)
		for e, base := prime-2, m[r][c]; e > 0; e, base = e/2, base*base%prime {
			if e%2 == 1 {
				inverse = inverse * base % prime
			}
		}
		for i := range m {
			if i == r || m[i][c] == 0 {
				continue
			}
			f := m[i][c] * inverse % prime
			for j := range m[i] {
				m[i][j] = ((m[i][j]-f*m[r][j])%prime + prime) % prime
			}
		}
		if r++; r == len(m) {
			break
		}
	}
	return r
}

func TestLedgerEncoding(t *testing.T) {
	var l Ledger
	a := Answered{Topic: "figures", Set: set(1, 2, 3, 4), Source: wire.Hash{9}, Stage: 1}
	l.Add(a)
	l.Add(a)
	if len(l.Answered) != 1 {
		t.Fatalf("%d entries", len(l.Answered))
	}
	again, err := DecodeLedger(l.Encode())
	if err != nil || !bytes.Equal(again.Encode(), l.Encode()) {
		t.Fatal(err)
	}
	for _, bad := range []string{
		`{"format":2,"answered":[]}`, `{"answered":[]}`, `{"format":1}`, ``,
		`{"format":1,"answered":[{"topic":""}]}`,
		strings.Replace(string(l.Encode()), `"topic":"figures"`, `"topic":""`, 1),
	} {
		if _, err := DecodeLedger([]byte(bad)); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
