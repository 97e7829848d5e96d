package masked

import (
	"fmt"
	"slices"
	"strings"

	"concord/wire"
)

// MaxLedgerBytes bounds an encoded ledger.
const MaxLedgerBytes = 16 << 20

// Answered is one question that a party has answered: its masked figures left, so that the
// sums may be known to every party of the set.
type Answered struct {
	// Topic says what was summed, for example "figures": two questions of one topic are taken to
	// have statistics in common, whatever else they have. Second moments have sums in common
	// with figures of the same rows.
	Topic string `json:"topic"`
	// Epoch, Stage and Statistics are those of the round, for people.
	Epoch      wire.Hash `json:"epoch"`
	Stage      int       `json:"stage"`
	Statistics wire.Hash `json:"statistics"`
	// Set are the parties that were summed, sorted, by names that stay the same in a
	// study: their first fingerprints.
	Set []wire.Hash `json:"set"`
	// Views are, for each of Set, the name of what it has of the statistics, where not all have
	// all (see [Holders]); else nothing.
	Views []string `json:"views,omitempty"`
	// Source is the SHA-256 of what this party's own figures were made from: its rows.
	Source wire.Hash `json:"source"`
	// Approved says that a person approved what the answer reveals beyond the sums.
	Approved bool `json:"approved,omitempty"`
}

// Ledger is what a party has answered. The zero value is empty.
type Ledger struct {
	Format   int        `json:"format"`
	Answered []Answered `json:"answered"`
}

// Verdict says whether a question may be answered.
type Verdict struct {
	// Never is an error for a set that is too small whatever anybody approves.
	Never error
	// Reveals says what approving would reveal and to whom, in plain words; "" if no more
	// than the sums. A person must approve it.
	Reveals string
	// Groups are those whose figures could be computed, each as one sum.
	Groups [][]wire.Hash
}

// OK reports whether the question may be answered without a person's yes.
func (v Verdict) OK() bool { return v.Never == nil && v.Reveals == "" }

// Judge says what answering q beside everything that was answered would reveal. me is this
// party, names what people call the parties.
//
// Sums of one topic over several sets can be added and subtracted. Parties that are in the
// same of these sets always stand together in what comes out. The rule: each such group
// has LeastBeyond parties at least beyond the assumed colluders. A party whose data
// changed counts as two, one before and one after. Where parties have different views, the
// sum of a statistic is over those of the set that have it, and sums of two statistics may
// differ by those who have one alone: only parties of the same view stand together. The rule is enough for any
// combination of sums; it may ask a person where none would show anything.
//
// A larger set of the same round is one that all who go on have left: it never opens, and
// does not count.
//
// Cost: O(answers × (answers + parties)).
func (l *Ledger) Judge(q Answered, me wire.Hash, colluders int, names func(wire.Hash) string) Verdict {
	if err := CheckSet(len(q.Set), colluders); err != nil {
		return Verdict{Never: err}
	}
	if !ascending(q.Set) || !contains(q.Set, me) {
		return Verdict{Never: fmt.Errorf("masked: the set of a question is not sorted or lacks this party")}
	}
	if err := q.checkViews(colluders); err != nil {
		return Verdict{Never: err}
	}
	// who is a party, or this party with one state of its data.
	type who struct{ party, source wire.Hash }
	patterns := make(map[who]string)
	var order []who
	questions := make([]Answered, 0, len(l.Answered)+1)
	asked := append(slices.Clone(l.Answered), q)
	for i, a := range l.Answered {
		left := slices.ContainsFunc(asked[i+1:], func(b Answered) bool {
			return a.Epoch == b.Epoch && a.Stage == b.Stage && a.Statistics == b.Statistics &&
				len(b.Set) < len(a.Set) && within(b.Set, a.Set)
		})
		if a.Topic == q.Topic && !left {
			questions = append(questions, a)
		}
	}
	for i, a := range append(questions, q) {
		for k, p := range a.Set {
			w := who{party: p}
			if p == me {
				w.source = a.Source
			}
			if _, ok := patterns[w]; !ok {
				order = append(order, w)
			}
			patterns[w] += fmt.Sprintf("%d %q ", i, a.view(k))
		}
	}
	groups := make(map[string][]who)
	for _, w := range order {
		groups[patterns[w]] = append(groups[patterns[w]], w)
	}
	var v Verdict
	var lines []string
	changed := false
	for _, w := range order {
		g := groups[patterns[w]]
		if g[0] != w || CheckSet(len(g), colluders) == nil {
			continue
		}
		var parties []wire.Hash
		var called []string
		for _, w := range g {
			parties = append(parties, w.party)
			called = append(called, names(w.party))
			changed = changed || w.party == me && w.source != q.Source
		}
		slices.SortFunc(parties, compare)
		slices.Sort(called)
		if len(g) == 1 && g[0].party == me && changed {
			continue // said below
		}
		v.Groups = append(v.Groups, parties)
		if len(called) == 1 {
			lines = append(lines, fmt.Sprintf("the %s of %s alone", q.Topic, called[0]))
		} else {
			lines = append(lines, fmt.Sprintf("the %s of %s together", q.Topic, strings.Join(called, ", ")))
		}
	}
	if changed {
		v.Groups = append(v.Groups, []wire.Hash{me})
		lines = append(lines, "what changed in this site's data since it answered, row by row if one row changed")
	}
	if len(lines) > 0 {
		slices.Sort(lines)
		lines = slices.Compact(lines)
		v.Reveals = fmt.Sprintf("With the sums that were answered before, every party of both sets could compute by subtraction: %s. "+
			"At least %d parties beyond %d that may collude should stand behind every figure.", strings.Join(lines, "; "), LeastBeyond, colluders)
	}
	return v
}

// view is what party k of the set has of the statistics.
func (a Answered) view(k int) string {
	if k < len(a.Views) {
		return a.Views[k]
	}
	return ""
}

// checkViews wants enough parties of each view.
func (a Answered) checkViews(colluders int) error {
	if a.Views == nil {
		return nil
	}
	if len(a.Views) != len(a.Set) {
		return fmt.Errorf("masked: %d views for a set of %d parties", len(a.Views), len(a.Set))
	}
	count := map[string]int{}
	for _, v := range a.Views {
		count[v]++
	}
	for k := range a.Set {
		if v := a.Views[k]; count[v]-colluders < LeastBeyond {
			return fmt.Errorf("masked: %d parties of the set have the view %q, of which %d may collude: must be %d at least", count[v], v, colluders, colluders+LeastBeyond)
		}
	}
	return nil
}

// Add notes an answer. It is called, and made durable, before the ready message is sent:
// others may open the sums without this party. The same answer again adds nothing.
func (l *Ledger) Add(a Answered) {
	for _, old := range l.Answered {
		if old.Topic == a.Topic && old.Epoch == a.Epoch && old.Stage == a.Stage && old.Source == a.Source && slices.Equal(old.Set, a.Set) {
			return
		}
	}
	a.Set = slices.Clone(a.Set)
	l.Answered = append(l.Answered, a)
}

// Encode returns the canonical encoding.
func (l *Ledger) Encode() []byte {
	out := Ledger{Format: 1, Answered: l.Answered}
	if out.Answered == nil {
		out.Answered = []Answered{}
	}
	b, err := wire.Canonical(out)
	if err != nil { // hashes, numbers and texts always encode
		panic("masked: " + err.Error())
	}
	return b
}

// DecodeLedger reads what Encode wrote.
func DecodeLedger(b []byte) (*Ledger, error) {
	if len(b) > MaxLedgerBytes {
		return nil, fmt.Errorf("masked: the ledger of sums has %d bytes, at most %d are read", len(b), MaxLedgerBytes)
	}
	if err := wire.CheckFormat(b, "masked: the ledger of sums", 1); err != nil {
		return nil, err
	}
	l := new(Ledger)
	if err := wire.DecodeCanonical(b, l); err != nil {
		return nil, fmt.Errorf("masked: the ledger of sums: %w", err)
	}
	if l.Format != 1 {
		return nil, &wire.FormatError{What: "masked: the ledger of sums", Theirs: l.Format, Newest: 1}
	}
	for i, a := range l.Answered {
		if a.Topic == "" || len(a.Set) == 0 || !ascending(a.Set) {
			return nil, fmt.Errorf("masked: the ledger of sums: entry %d has no topic, no set or one that is not sorted", i+1)
		}
		if a.Views != nil && len(a.Views) != len(a.Set) {
			return nil, fmt.Errorf("masked: the ledger of sums: entry %d has %d views for %d parties", i+1, len(a.Views), len(a.Set))
		}
	}
	return l, nil
}
