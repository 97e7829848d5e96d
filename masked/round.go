package masked

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"concord/contract"
	"concord/identity"
	"concord/secret"
	"concord/wire"
)

// MaxStages bounds the stages of an epoch, MaxAttempts the sets of one sender in a round.
const (
	MaxStages   = 1000
	MaxAttempts = 16
)

// LeastBeyond is how many parties of a set there must be beyond the assumed colluders.
const LeastBeyond = contract.LeastBeyond

// ErrLeft is returned by [Round.Take] for a message of a set that was left for a smaller
// one, and by all that a party does that was left out. The message is not used, and must
// not be: docs/pooling.md says what it could show.
var ErrLeft = errors.New("masked: the set of this message was left for a smaller one")

// ErrUnfit is returned by [Round.Take] for a message that is damaged, of another round or
// not signed by whom it says. Whoever brought it is at fault; it is of no use, and says
// nothing of the round.
var ErrUnfit = errors.New("masked: no message of this round")

// A PartyError says that a message of one party is wrong in a way that only that party
// can cause, since it signed it.
type PartyError struct {
	Party wire.Hash
	Name  string
	What  string
}

// Error names the party.
func (e *PartyError) Error() string { return fmt.Sprintf("masked: %q %s", e.Name, e.What) }

// Config says what is summed, and by whom.
type Config struct {
	// Study and Epoch are those of the roster.
	Study, Epoch wire.Hash
	// Stage counts the rounds of an epoch, from 1. One stage has one round: two rounds with
	// the same Config would use the same masks.
	Stage int
	// Parties are those of the set with which the round begins, in any order.
	Parties []*identity.Statement
	// Without are those of Parties that were left out of an earlier stage, sorted: the round
	// begins with the set of that stage's sums. Sums of two stages have figures in common, and
	// over sets that differ by few parties they show the figures of those.
	Without []wire.Hash
	// Holders are the lots of parties that have the same statistics, where not all have all:
	// every set that is summed has enough of each.
	Holders []Holders
	// Colluders is how many of them may tell each other all they know.
	Colluders  int
	Statistics Statistics
}

// Round is one party's side of the sums of one stage.
type Round struct {
	Config
	id         *identity.Identity
	me         wire.Hash
	all        []wire.Hash
	statements map[wire.Hash]*identity.Statement
	statistics wire.Hash
	groups     map[wire.Hash]*group
	first      *group
	// pairs are the secrets shared with the members, made when they are first needed.
	pairs map[wire.Hash]secret.Bytes
	// messages are all that were taken, in their order: the state.
	messages []*message
	taken    map[wire.Hash]bool
}

// group is one of the round's sets and what was said about it.
type group struct {
	without, members []wire.Hash
	hash             wire.Hash
	// threshold is t: so many members open the keys.
	threshold     int
	ready, reveal map[wire.Hash]*message
	// toward holds the signers of absent for each smaller set, by its hash.
	toward map[wire.Hash]map[wire.Hash]*message
	// opening is what is known of its keys: it follows from the messages.
	opening *opening
}

type message struct {
	*Head
	raw  []byte
	hash wire.Hash
}

// attempt counts from 1, and one more for each party that is left out.
func (g *group) attempt() int { return 1 + len(g.without) }

// New begins the round of a party. The error says that the set is too small for the
// assumed colluders, that sums could overflow, or what else the configuration lacks.
func New(c Config, id *identity.Identity) (*Round, error) {
	if c.Stage < 1 || c.Stage > MaxStages {
		return nil, fmt.Errorf("masked: stage %d, must be 1 to %d", c.Stage, MaxStages)
	}
	if c.Study.IsZero() || c.Epoch.IsZero() {
		return nil, errors.New("masked: study or epoch is not set")
	}
	if c.Colluders < 0 || c.Colluders > contract.MaxParties {
		return nil, fmt.Errorf("masked: %d colluders, must be 0 to %d", c.Colluders, contract.MaxParties)
	}
	if len(c.Parties) > contract.MaxParties {
		return nil, fmt.Errorf("masked: %d parties, at most %d", len(c.Parties), contract.MaxParties)
	}
	if err := c.Statistics.Check(len(c.Parties)); err != nil {
		return nil, err
	}
	r := &Round{
		Config: c, id: id, me: id.Statement.Fingerprint(),
		statements: make(map[wire.Hash]*identity.Statement), groups: make(map[wire.Hash]*group),
		pairs: make(map[wire.Hash]secret.Bytes), taken: make(map[wire.Hash]bool),
	}
	for _, s := range c.Parties {
		print := s.Fingerprint()
		if r.statements[print] != nil {
			return nil, fmt.Errorf("masked: %q is in the set twice", s.Name)
		}
		if s.Role != identity.RoleParty {
			return nil, fmt.Errorf("masked: %q is not a party but an %s", s.Name, s.Role)
		}
		r.statements[print] = s
		r.all = append(r.all, print)
	}
	slices.SortFunc(r.all, compare)
	if r.statements[r.me] == nil {
		return nil, fmt.Errorf("masked: %q is not in the set", id.Statement.Name)
	}
	for _, h := range c.Holders {
		for _, p := range h.Parties {
			if r.statements[p] == nil {
				return nil, fmt.Errorf("masked: %s, who has %s, is not in the set", p.Short(), h.Name)
			}
		}
	}
	r.statistics = c.Statistics.Hash()
	if !ascending(c.Without) {
		return nil, errors.New("masked: those that were left out before are not sorted")
	}
	var err error
	if r.first, err = r.group(slices.Clone(c.Without)); err != nil {
		return nil, err
	}
	return r, nil
}

// group returns the set without some parties.
func (r *Round) group(without []wire.Hash) (*group, error) {
	if !within(without, r.all) {
		return nil, errors.New("masked: a party is left out that is not in the round")
	}
	members := difference(r.all, without)
	if err := r.checkSet(without); err != nil {
		return nil, err
	}
	hash := setHash(r.Epoch, members)
	if g := r.groups[hash]; g != nil {
		return g, nil
	}
	g := &group{
		without: without, members: members, hash: hash,
		threshold: threshold(len(members), r.Colluders),
		ready:     make(map[wire.Hash]*message), reveal: make(map[wire.Hash]*message),
		toward: make(map[wire.Hash]map[wire.Hash]*message),
	}
	r.groups[hash] = g
	return g, nil
}

// CheckSet says whether a set of n parties is large enough when some may collude.
func CheckSet(n, colluders int) error {
	if n-colluders < LeastBeyond {
		return fmt.Errorf("masked: a set of %d parties of which %d may collude would show sums over %d: must be %d parties at least",
			n, colluders, max(0, n-colluders), colluders+LeastBeyond)
	}
	return nil
}

// threshold is t, how many of a set's n members open its keys when k may collude: any two
// lots of t have k + 1 members in common, so one that is honest, and for k + 3 members or
// more one may be missing after the ready phase.
func threshold(n, k int) int { return (n+k)/2 + 1 }

// setHash names a set in the derivation of keys.
func setHash(epoch wire.Hash, members []wire.Hash) wire.Hash {
	b := append([]byte(labelSet), 0)
	b = append(b, epoch[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(members)))
	for _, m := range members {
		b = append(b, m[:]...)
	}
	return sha256.Sum256(b)
}

func (r *Round) setWithout(without []wire.Hash) wire.Hash {
	return setHash(r.Epoch, difference(r.all, without))
}

// current is the smallest set for which all its members have signed that they go on with
// it: the first, if there is none.
//
// Any two such sets are one within the other if they have an honest member in common,
// who signs only toward ever smaller ones.
func (r *Round) current() *group {
	best := r.first
	for hash, to := range r.groups {
		if len(to.members) < len(best.members) && allIn(to.members, r.signers(hash)) {
			best = to
		}
	}
	return best
}

// signers are those that have signed to go on with a set, from whichever larger one: whoever
// signed from S for T never reveals for a set between them.
func (r *Round) signers(hash wire.Hash) map[wire.Hash]*message {
	all := make(map[wire.Hash]*message)
	for _, from := range r.groups {
		for m, absent := range from.toward[hash] {
			all[m] = absent
		}
	}
	return all
}

// leavers are those that have signed to go on without a set: from it or a larger one, for a
// smaller one.
func (r *Round) leavers(g *group) []*message {
	var list []*message
	for _, from := range r.groups {
		if !within(from.without, g.without) {
			continue
		}
		for _, signed := range from.toward {
			for _, absent := range signed {
				if len(absent.Next) > len(g.without) && within(g.without, absent.Next) {
					list = append(list, absent)
				}
			}
		}
	}
	return list
}

func allIn(members []wire.Hash, signed map[wire.Hash]*message) bool {
	for _, m := range members {
		if signed[m] == nil {
			return false
		}
	}
	return true
}

// pledged is the smallest set toward which a party has signed, nil if none.
func (r *Round) pledged(party wire.Hash) *group {
	var best *group
	for _, from := range r.groups {
		for hash, signed := range from.toward {
			if to := r.groups[hash]; signed[party] != nil && (best == nil || len(to.members) < len(best.members)) {
				best = to
			}
		}
	}
	return best
}

// name is what people call a party.
func (r *Round) name(party wire.Hash) string { return r.statements[party].Name }

func (r *Round) names(parties []wire.Hash) []string {
	names := make([]string, len(parties))
	for i, p := range parties {
		names[i] = r.name(p)
	}
	slices.Sort(names)
	return names
}

// Members are the parties of the set that is being summed, sorted.
func (r *Round) Members() []wire.Hash { return slices.Clone(r.current().members) }

// wrong is an error that names the party.
func (r *Round) wrong(party wire.Hash, format string, args ...any) error {
	return &PartyError{Party: party, Name: r.name(party), What: fmt.Sprintf(format, args...)}
}
