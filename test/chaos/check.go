package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/site"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

// Broken is the verdict of a check: a folder contradicts what was acknowledged, or holds
// what must not be there. A play that ends with another error has shown nothing of this.
type Broken struct {
	Who string // the party, or "analyst"
	Err error
}

// Error says which promise does not hold.
func (b *Broken) Error() string { return b.Err.Error() }

// Unwrap is what was found.
func (b *Broken) Unwrap() error { return b.Err }

// verdict is of a check of somebody's folder, nil if all is well.
func verdict(who string, found error) error {
	if found == nil {
		return nil
	}
	return &Broken{who, found}
}

// check looks at a party's folder: what was acknowledged is there, whole, and under
// nri nothing from which the basis or the order of rows could be had again.
func (q *holder) check(f folder) error {
	tmp, err := os.MkdirTemp(q.play.dir, "found-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := f.copyTo(filepath.Join(tmp, "all")); err != nil {
		return err
	}
	return verdict(q.name, q.kept(f, filepath.Join(tmp, "all", siteDir)))
}

// kept compares a party's folder f, of which a copy is in dir, with what was acknowledged.
func (q *holder) kept(f folder, dir string) error {
	if q.play.protocol == "nri" {
		if err := q.nothingToRegenerate(f); err != nil {
			return err
		}
	}
	if !q.has("join") {
		return nil
	}
	// What join has acknowledged, keys, contract and the analyst's statement, is read here.
	s, err := site.Open(dir)
	if err != nil {
		return err
	}
	if err := q.noteReceipts(s); err != nil {
		return err
	}
	id, err := s.Identity()
	if err != nil {
		return err
	}
	_, hash, err := s.Contract()
	if err != nil {
		return err
	}
	if err := q.checkLog(s, id, hash); err != nil {
		return err
	}
	for _, promise := range []struct {
		step string
		keep func(*site.Site) error
	}{
		{"roster confirm", q.keptConfirmation},
		{"pool prepare", q.keptPool},
		{"sync", q.keptSetup},
		{"prepare", q.keptDraft},
		{"approve", q.keptApproval},
		{"send", q.keptContribution},
		{"receive", q.keptModel},
		{"close", closed},
	} {
		if q.has(promise.step) {
			if err := promise.keep(s); err != nil {
				return fmt.Errorf("%s: %s was acknowledged: %w", q.name, promise.step, err)
			}
		}
	}
	return nil
}

func (q *holder) keptConfirmation(s *site.Site) error {
	roster, _, err := s.Chain()
	if err == nil && roster == nil {
		err = errors.New("there is no confirmation")
	}
	return err
}

func (q *holder) keptSetup(s *site.Site) error {
	if !s.Sent("setup") {
		return errors.New("there is no receipt for the setup bundle")
	}
	if q.has("close") || s.Closed() {
		return nil // closed since
	}
	seed, ok, err := s.Seed()
	if err == nil && (!ok || !bytes.Equal(seed.Bytes().Reveal(), q.seed)) {
		err = errors.New("the anchor seed is another one, or gone")
	}
	return err
}

func (q *holder) keptDraft(s *site.Site) error {
	b, err := os.ReadFile(s.Leaves("contribution", "manifest.json"))
	if err != nil {
		return err
	}
	if q.has("approve") && wire.HashOf(b) != q.draft {
		return errors.New("another contribution lies there than the one that was prepared last")
	}
	for _, name := range []string{"report.json", "source.json", "prepared.json"} {
		if _, err := os.Stat(s.Stays("contribution", name)); err != nil {
			return err
		}
	}
	return nil
}

func (q *holder) keptApproval(s *site.Site) error {
	if _, err := os.Stat(s.Leaves("contribution", "approval.json")); err != nil {
		return err
	}
	return q.lists(s.Path("approvals.log"))
}

// lists makes sure that a log of lines names the contribution.
func (q *holder) lists(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && !strings.Contains(string(b), q.draft.String()) {
		err = fmt.Errorf("%s does not name the contribution", filepath.Base(path))
	}
	return err
}

func (q *holder) keptContribution(s *site.Site) error {
	if !s.Sent("contribution") {
		return errors.New("there is no receipt")
	}
	return q.lists(s.Path("ledger.jsonl"))
}

func (q *holder) keptModel(s *site.Site) error {
	if _, err := s.Model(); err != nil {
		return err
	}
	_, err := os.Stat(s.Path(site.MetricsFile))
	return err
}

// closed makes sure that nothing is left that undoes other parties' bases.
func closed(s *site.Site) error {
	for _, name := range []string{"anchor.secret", "setup"} {
		if s.Has(name) {
			return fmt.Errorf("the study is closed at this site, and %s is still there", name)
		}
	}
	left, err := filepath.Glob(s.Path("inbox", "setup-*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("the study is closed at this site, and %s is still there", filepath.Base(left[0]))
	}
	return err
}

// noteReceipts reads a party's receipts: from now on the store must have those bundles,
// and the ledger the contribution.
func (q *holder) noteReceipts(s *site.Site) error {
	analyst, err := s.Analyst()
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		raw, err := s.Receipt(kind)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		r, err := member.DecodeReceipt(raw, analyst)
		if err != nil {
			return fmt.Errorf("%s: the receipt for its %s: %w", q.name, kind, err)
		}
		q.play.mu.Lock()
		q.play.receipts[r.Manifest] = true
		if r.Heads != nil && r.Heads.Own != nil {
			q.play.heads = append(q.play.heads, *r.Heads.Own)
		}
		q.play.mu.Unlock()
		if kind == "contribution" {
			if b, err := os.ReadFile(s.Path("ledger.jsonl")); err != nil || !strings.Contains(string(b), r.Manifest.String()) {
				return fmt.Errorf("%s: the analyst has the contribution %s, and the ledger does not count it (%v)", q.name, r.Manifest.Short(), err)
			}
		}
	}
	return nil
}

// checkStore looks at the analyst's folder: whoever joined, confirmed or has a receipt
// is known there, and the bundles are whole.
func (p *play) checkStore(f folder) error {
	tmp, err := os.MkdirTemp(p.dir, "found-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := f.copyTo(filepath.Join(tmp, "all")); err != nil {
		return err
	}
	return verdict(p.analyst.name, p.kept(filepath.Join(tmp, "all", analystDir)))
}

// kept compares a copy of the analyst's folder with what was acknowledged.
func (p *play) kept(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "config.json")); errors.Is(err, fs.ErrNotExist) && !p.analystDid("study create") {
		if p.analystDid("init") {
			return errors.New("init was acknowledged, and the folder is not set up")
		}
		return nil
	}
	st, err := store.Open(dir, nil) // to be read
	if err != nil {
		return err
	}
	defer st.Close()
	return p.promises(context.Background(), st, dir)
}

// unreleased checks the analyst's folder and reports whether it has no results yet.
func (p *play) unreleased(ctx context.Context) (bool, error) {
	tmp, err := os.MkdirTemp(p.dir, "found-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	if err := p.checkStore(p.analyst.folder()); err != nil {
		return false, err
	}
	if err := p.analyst.folder().copyTo(filepath.Join(tmp, "all")); err != nil {
		return false, err
	}
	dir := filepath.Join(tmp, "all", analystDir)
	st, err := store.Open(dir, nil)
	if err != nil {
		return false, err
	}
	defer st.Close()
	studies, err := st.Studies(ctx)
	if err != nil {
		return false, err
	}
	members, err := st.Members(ctx, studies[0].Hash)
	if err != nil {
		return false, err
	}
	epoch, err := epochOf(dir, studies[0], members)
	if err != nil {
		return false, err
	}
	results, err := st.Sent(ctx, studies[0].Hash, epoch, bundle.KindResult)
	return len(results) == 0, err
}

func (p *play) analystDid(step string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.analystDone[step] > 0
}

// promises compares an open store with what was acknowledged.
func (p *play) promises(ctx context.Context, st *store.Store, dir string) error {
	studies, err := st.Studies(ctx)
	if err != nil {
		return err
	}
	if len(studies) == 0 {
		if p.analystDid("study create") {
			return errors.New("the study that was created is gone")
		}
		return nil
	}
	hash := studies[0].Hash
	if err := p.checkLog(ctx, st, dir, hash); err != nil {
		return err
	}
	invites, err := st.Invites(ctx, hash)
	if err != nil {
		return err
	}
	p.mu.Lock()
	given, receipts := p.analystDone["invite"], len(p.receipts)
	p.mu.Unlock()
	if len(invites) < given {
		return fmt.Errorf("%d invites were given, the store has %d", given, len(invites))
	}
	members, err := st.Members(ctx, hash)
	if err != nil {
		return err
	}
	for _, q := range p.parties {
		if q.has("join") && !slices.ContainsFunc(members, func(m *identity.Statement) bool { return m.Name == q.name }) {
			return fmt.Errorf("%s has joined, and the store does not know it", q.name)
		}
	}
	if len(members) < len(p.parties) {
		if receipts > 0 {
			return errors.New("there are receipts, and the roster is open")
		}
		return nil
	}
	epoch, err := epochOf(dir, studies[0], members)
	if err != nil {
		return err
	}
	confirmations, err := st.Confirmations(ctx, hash, epoch)
	if err != nil {
		return err
	}
	for _, q := range p.parties {
		if q.has("roster confirm") && !slices.ContainsFunc(confirmations, func(c *member.Confirmation) bool { return nameOf(members, c.Party) == q.name }) {
			return fmt.Errorf("%s has confirmed the roster, and the store does not know it", q.name)
		}
	}
	return p.keptBundles(ctx, st, dir, hash, epoch)
}

// keptBundles compares the stored bundles with the receipts, their own hashes and how
// many there may be.
func (p *play) keptBundles(ctx context.Context, st *store.Store, dir string, hash, epoch wire.Hash) error {
	stored := map[wire.Hash]bool{}
	for _, kind := range []string{"setup", "pool", "contribution", "result"} {
		bundles, err := st.Sent(ctx, hash, epoch, kind)
		if err != nil {
			return err
		}
		if len(bundles) > p.bundles(kind) {
			return fmt.Errorf("%d bundles of kind %s are stored for %d parties", len(bundles), kind, len(p.parties))
		}
		if kind == "result" && len(bundles) != 0 && len(bundles) != len(p.parties) {
			return fmt.Errorf("%d of %d results are stored; they are released together", len(bundles), len(p.parties))
		}
		for _, b := range bundles {
			stored[b.Manifest] = true
			raw, err := os.ReadFile(filepath.Join(dir, "bundles", b.File.String()))
			if err != nil {
				return fmt.Errorf("a stored %s: %w", kind, err)
			}
			if err := whole(raw, b); err != nil {
				return fmt.Errorf("a stored %s: %w", kind, err)
			}
		}
		if kind == "result" && len(bundles) == 0 {
			for _, q := range p.parties {
				if q.has("receive") {
					return fmt.Errorf("%s has received a result, and the store has none", q.name)
				}
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for m := range p.receipts {
		if !stored[m] {
			return fmt.Errorf("there is a receipt for %s, and the store does not have it", m.Short())
		}
	}
	return nil
}

// whole compares a stored bundle's file with its row and with its own line.
func whole(raw []byte, b store.Bundle) error {
	if int64(len(raw)) != b.Size {
		return fmt.Errorf("its file has %d bytes, must have %d", len(raw), b.Size)
	}
	env, line, err := bundle.ReadEnvelope(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if env.Manifest != b.Manifest || wire.HashOf(line) != b.File {
		return errors.New("its file is another bundle's")
	}
	return env.CheckCiphertext(bytes.NewReader(raw[len(line):]))
}

// rosterOf is the closed roster that a store's members make.
func rosterOf(dir string, s store.Study, members []*identity.Statement) (*contract.Contract, *member.Roster, *identity.Identity, error) {
	c, err := contract.Decode(s.Contract)
	if err != nil {
		return nil, nil, nil, err
	}
	id, err := identityIn(dir)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := member.NewRoster(c, 1, append(slices.Clone(members), id.Statement))
	return c, r, id, err
}

func epochOf(dir string, s store.Study, members []*identity.Statement) (wire.Hash, error) {
	_, r, _, err := rosterOf(dir, s, members)
	if err != nil {
		return wire.Hash{}, err
	}
	return r.Epoch(s.Hash), nil
}

func nameOf(members []*identity.Statement, fingerprint wire.Hash) string {
	for _, m := range members {
		if m.Fingerprint() == fingerprint {
			return m.Name
		}
	}
	return ""
}
