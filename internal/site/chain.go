package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/member"
	"concord/secret"
	"concord/wire"
)

const (
	numberFile     = "number" // in roster/, unless it is the first
	amendmentsDir  = "amendments"
	identitiesDir  = "identities"
	nextFile       = "identity-next.secret"
	candidateFile  = "candidate.json"
	pendingFile    = "pending.json"
	withdrawalFile = "withdraw.json"
	// WithdrawnFile is the analyst's signed receipt of a withdrawal.
	WithdrawnFile = "withdrawn.json"
	// RemainsFile says in plain words what a withdrawal left.
	RemainsFile = "withdrawn.txt"
)

// PutRoster stores the members whom people here have recognised, in place of an
// earlier roster, and this site's signed confirmation; earlier amendments go.
func (s *Site) PutRoster(r *member.Roster, c *member.Confirmation) error {
	return s.PutNewcomer(r, nil, c)
}

// PutNewcomer is PutRoster for a site that came after setup: with the amendments that
// led from the roster that the others confirmed to the one in which it came.
func (s *Site) PutNewcomer(r *member.Roster, steps []member.Step, c *member.Confirmation) error {
	// Without a confirmation there is no roster, whatever a crash leaves.
	for _, name := range []string{confirmationFile, amendmentsDir} {
		if err := os.RemoveAll(s.path(name)); err != nil {
			return err
		}
	}
	if err := durable.SyncDir(s.Dir); err != nil {
		return err
	}
	err := durable.PutDir(s.path(rosterDir), dirPerm, func(dir string) error {
		for _, m := range r.Members {
			if err := os.WriteFile(filepath.Join(dir, m.Fingerprint().String()+".json"), m.Encode(), filePerm); err != nil {
				return err
			}
		}
		if r.Number == 1 {
			return nil
		}
		return os.WriteFile(filepath.Join(dir, numberFile), fmt.Appendf(nil, "%d\n", r.Number), filePerm)
	})
	if err != nil {
		return err
	}
	for _, step := range steps {
		told := api.Amended{Amendment: step.Amendment.Encode()}
		for _, c := range step.Confirmations {
			told.Confirmations = append(told.Confirmations, c.Encode())
		}
		if err := s.PutAmended(step.Roster.Number, told); err != nil {
			return err
		}
	}
	return durable.WriteFile(s.path(confirmationFile), c.Encode(), filePerm)
}

// Chain loads the roster that people confirmed and the amendments that this site has
// followed since, or nil if none is confirmed yet, with this site's confirmation. All of
// it is checked again.
func (s *Site) Chain() (*member.Chain, *member.Confirmation, error) {
	if !s.has(confirmationFile) {
		return nil, nil, nil
	}
	contract, hash, err := s.Contract()
	if err != nil {
		return nil, nil, err
	}
	root, err := s.root(contract)
	if err != nil {
		return nil, nil, err
	}
	chain := member.NewChain(contract, hash, root)
	for number := root.Number + 1; ; number++ {
		path := s.path(amendmentsDir, fmt.Sprintf("%04d.json", number))
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		var a api.Amended
		if err := json.Unmarshal(b, &a); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := Follow(chain, a); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	b, err := os.ReadFile(s.path(confirmationFile))
	if err != nil {
		return nil, nil, err
	}
	c, err := member.DecodeConfirmation(b)
	if err != nil {
		return nil, nil, err
	}
	at := chain.At(c.Epoch) // of a newcomer, the roster in which it came
	if at == nil {
		at = root
	}
	return chain, c, c.Check(at, hash)
}

func (s *Site) root(agreed *contract.Contract) (*member.Roster, error) {
	entries, err := os.ReadDir(s.path(rosterDir))
	if err != nil {
		return nil, err
	}
	number := 1
	var members []*identity.Statement
	for _, e := range entries {
		path := s.path(rosterDir, e.Name())
		if e.Name() == numberFile {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if _, err := fmt.Sscanf(string(b), "%d\n", &number); err != nil {
				return nil, fmt.Errorf("%s is damaged", path)
			}
			continue
		}
		if _, err := wire.ParseHash(strings.TrimSuffix(e.Name(), ".json")); err != nil {
			continue // not one of ours
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		m, err := identity.DecodeStatement(b)
		if err != nil {
			return nil, err
		}
		members = append(members, m)
	}
	return member.NewRoster(agreed, number, members)
}

// Follow extends a chain by an amendment as the server tells it.
func Follow(chain *member.Chain, told api.Amended) error {
	a, err := member.DecodeAmendment(told.Amendment)
	if err != nil {
		return err
	}
	confirmations, err := Confirmations(told.Confirmations)
	if err != nil {
		return err
	}
	return chain.Extend(a, confirmations)
}

// Confirmations decodes what the server tells. Nothing of it is checked yet.
func Confirmations(raw [][]byte) ([]*member.Confirmation, error) {
	if len(raw) > contract.MaxParties {
		return nil, fmt.Errorf("%d confirmations, at most %d parties take part", len(raw), contract.MaxParties)
	}
	var out []*member.Confirmation
	for _, b := range raw {
		c, err := member.DecodeConfirmation(b)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// PutAmended stores the amendment that leads to the roster of a number, which the
// caller has verified.
func (s *Site) PutAmended(number int, a api.Amended) error {
	if err := os.MkdirAll(s.path(amendmentsDir), dirPerm); err != nil {
		return err
	}
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(s.path(amendmentsDir, fmt.Sprintf("%04d.json", number)), append(b, '\n'), filePerm); err != nil {
		return err
	}
	return durable.SyncDir(s.Dir)
}

// PutNext stores the keys that this site is about to take.
func (s *Site) PutNext(id *identity.Identity) error {
	keys, err := id.EncodeSecret()
	if err != nil {
		return err
	}
	defer keys.Erase()
	return durable.WriteFile(s.path(nextFile), keys.Reveal(), secretPerm)
}

// Next loads the keys that this site is about to take, nil if there are none.
func (s *Site) Next() (*identity.Identity, error) {
	id, err := s.identity(nextFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return id, err
}

// TakeNext makes the next keys this site's own; the old ones stay, for what was sealed
// to them. It can be repeated after a crash.
func (s *Site) TakeNext() error {
	next, err := s.Next()
	if next == nil || err != nil {
		return err
	}
	old, err := s.Identity()
	if err != nil {
		return err
	}
	if old.Statement.Fingerprint() != next.Statement.Fingerprint() {
		if err := os.MkdirAll(s.path(identitiesDir), dirPerm); err != nil {
			return err
		}
		b, err := os.ReadFile(s.path(identityFile))
		if err != nil {
			return err
		}
		if err := durable.WriteFile(s.path(identitiesDir, old.Statement.Fingerprint().String()+".secret"), b, secretPerm); err != nil {
			return err
		}
		if err := durable.SyncDir(s.Dir); err != nil {
			return err
		}
		keys, err := next.EncodeSecret()
		if err != nil {
			return err
		}
		defer keys.Erase()
		if err := durable.WriteFile(s.path(identityFile), keys.Reveal(), secretPerm); err != nil {
			return err
		}
	}
	if err := durable.WriteFile(s.path(statementFile), next.Statement.Encode(), filePerm); err != nil {
		return err
	}
	return s.remove(nextFile)
}

// DropNext forgets keys that this site did not take.
func (s *Site) DropNext() error { return s.remove(nextFile) }

// Past loads the keys that this site had before.
func (s *Site) Past() ([]*identity.Identity, error) {
	entries, err := os.ReadDir(s.path(identitiesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var past []*identity.Identity
	for _, e := range entries {
		if _, err := wire.ParseHash(strings.TrimSuffix(e.Name(), ".secret")); err != nil {
			continue
		}
		id, err := s.identity(filepath.Join(identitiesDir, e.Name()))
		if err != nil {
			return nil, err
		}
		past = append(past, id)
	}
	return past, nil
}

func (s *Site) identity(name string) (*identity.Identity, error) {
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		return nil, err
	}
	keys := secret.NewBytes(b)
	defer keys.Erase()
	return identity.Decode(keys)
}

// ResetSetup forgets what this site has done under a roster that another one is to
// replace, before it has sealed a contribution: its share, the others', the seed, and
// what was prepared with it.
func (s *Site) ResetSetup() error {
	inbox, err := filepath.Glob(s.path(inboxDir, bundle.KindSetup+"-*.bundle"))
	if err != nil {
		return err
	}
	for _, path := range append(inbox, s.path(anchorFile), s.path(receiptsDir, bundle.KindSetup+".json"), s.Outbox(bundle.KindSetup),
		s.path(bundle.KindSetup), s.path(bundle.KindContribution)) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	sealed, err := s.PoolMessages()
	if err != nil {
		return err
	}
	for _, name := range sealed {
		if err := durable.Remove(s.Outbox(name), s.path(receiptsDir, name+".json")); err != nil {
			return err
		}
	}
	if err := s.forgetPool(); err != nil {
		return err
	}
	return durable.SyncDir(s.Dir)
}

// Candidate is what a site holds that has confirmed its own coming after setup, until
// the members have confirmed it too.
type Candidate struct {
	// Amendment is the add, as the analyst signed it.
	Amendment []byte `json:"amendment"`
	// Confirmation is this site's.
	Confirmation []byte `json:"confirmation"`
}

// PutCandidate stores that this site has confirmed its own coming.
func (s *Site) PutCandidate(c Candidate) error { return s.putJSON(candidateFile, c) }

// Candidate loads what PutCandidate stored, nil if there is none.
func (s *Site) Candidate() (*Candidate, error) { return getJSON[Candidate](s, candidateFile) }

// DropCandidate forgets it.
func (s *Site) DropCandidate() error { return s.remove(candidateFile) }

// PutPending stores this site's confirmation of another party's coming, for the next
// parcel.
func (s *Site) PutPending(c *member.Confirmation) error {
	return durable.WriteFile(s.path(pendingFile), c.Encode(), filePerm)
}

// Pending loads the newest confirmation of another party's coming, nil if there is none.
func (s *Site) Pending() (*member.Confirmation, error) {
	b, err := os.ReadFile(s.path(pendingFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return member.DecodeConfirmation(b)
}

// PutWithdrawal stores this site's signed withdrawal, which is about to be sent.
func (s *Site) PutWithdrawal(a *member.Amendment) error {
	return durable.WriteFile(s.path(withdrawalFile), a.Encode(), filePerm)
}

// Withdrawal loads what PutWithdrawal stored, nil if there is none.
func (s *Site) Withdrawal() (*member.Amendment, error) {
	b, err := os.ReadFile(s.path(withdrawalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return member.DecodeAmendment(b)
}

// PutWithdrawn stores the analyst's receipt for this site's withdrawal, and in plain
// words what remains. From then on this site takes no part.
func (s *Site) PutWithdrawn(receipt []byte, remains string) error {
	if err := durable.WriteFile(s.path(RemainsFile), []byte(remains), filePerm); err != nil {
		return err
	}
	return durable.WriteFile(s.path(WithdrawnFile), receipt, filePerm)
}

func (s *Site) putJSON(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return durable.WriteFile(s.path(name), append(b, '\n'), filePerm)
}

func getJSON[T any](s *Site, name string) (*T, error) {
	b, err := os.ReadFile(s.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(name), err)
	}
	return v, nil
}

func (s *Site) remove(name string) error {
	if err := os.Remove(s.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return durable.SyncDir(s.Dir)
}
