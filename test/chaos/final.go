package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/anchor"
	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/site"
	"concord/internal/store"
	"concord/member"
	"concord/npy"
	"concord/onnx"
	"concord/party"
	"concord/release"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

// Result says how a finished play compares with one that nobody disturbed.
type Result struct {
	// Results and Models are those that are bit for bit what the approved
	// contributions give when everything is computed anew from them; Farthest is by how
	// much the scores of any other model differ. There are Of parties.
	Results, Models int
	Of              int
	Farthest        float64
}

// finish checks a play that has ended: exactly one of everything, no leftovers after a
// sweep, and the same result as from the same contributions without any trouble.
func (p *play) finish(ctx context.Context) (Result, error) {
	var none Result
	tmp, err := os.MkdirTemp(p.dir, "end-")
	if err != nil {
		return none, err
	}
	defer os.RemoveAll(tmp)
	if err := p.checkStore(p.analyst.folder()); err != nil {
		return none, err
	}
	if err := p.analyst.folder().copyTo(filepath.Join(tmp, "analyst")); err != nil {
		return none, err
	}
	dir := filepath.Join(tmp, "analyst", analystDir)
	st, err := store.Open(dir, nil)
	if err != nil {
		return none, err
	}
	defer st.Close()
	if err := st.Sweep(); err != nil {
		return none, err
	}
	e, err := p.recompute(ctx, st, dir)
	if err != nil {
		return none, err
	}
	if err := onlyThese(filepath.Join(dir, "bundles"), e.files); err != nil {
		return none, err
	}
	if err := onlyThese(filepath.Join(dir, "uploads"), nil); err != nil {
		return none, err
	}
	r := Result{Of: len(p.parties)}
	for i, q := range p.parties {
		qdir := filepath.Join(tmp, fmt.Sprint("party-", i))
		if err := q.check(q.folder()); err != nil {
			return r, err
		}
		if err := q.folder().copyTo(qdir); err != nil {
			return r, err
		}
		if err := q.finish(ctx, e, filepath.Join(qdir, siteDir), &r); err != nil {
			return r, fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return r, nil
}

// expected is what the stored contributions give.
type expected struct {
	contract  *contract.Contract
	hash      wire.Hash
	epoch     wire.Hash
	analyst   *identity.Statement
	roster    *member.Roster
	files     []string          // that the store must hold, and no others
	results   map[string][]byte // of each party, as stored, by name
	manifests map[string]wire.Hash
	g         map[string]*mat.Dense
	model     *onnx.Graph
	figures   []byte // that the parties have pooled, nil before one was looked at
	answers   map[string]analyst.Answers
	outcome   []byte
}

// recompute aligns and trains once more from the stored contributions.
func (p *play) recompute(ctx context.Context, st *store.Store, dir string) (*expected, error) {
	studies, err := st.Studies(ctx)
	if err != nil || len(studies) != 1 {
		return nil, fmt.Errorf("there are %d studies (%v), must be one", len(studies), err)
	}
	members, err := st.Members(ctx, studies[0].Hash)
	if err != nil || len(members) != len(p.parties) {
		return nil, fmt.Errorf("there are %d members (%v), must be %d", len(members), err, len(p.parties))
	}
	e := &expected{
		hash: studies[0].Hash, results: map[string][]byte{}, manifests: map[string]wire.Hash{},
		g: map[string]*mat.Dense{}, answers: map[string]analyst.Answers{},
	}
	var id *identity.Identity
	if e.contract, e.roster, id, err = rosterOf(dir, studies[0], members); err != nil {
		return nil, err
	}
	e.epoch, e.analyst = e.roster.Epoch(e.hash), id.Statement
	parts := make([]analyst.Contribution, len(members))
	for _, kind := range []string{bundle.KindSetup, bundle.KindPool, bundle.KindContribution, bundle.KindResult} {
		bundles, err := st.Sent(ctx, e.hash, e.epoch, kind)
		if err != nil {
			return nil, err
		}
		if want := p.bundles(kind); len(bundles) != want {
			return nil, fmt.Errorf("%d bundles of kind %s are stored, must be %d", len(bundles), kind, want)
		}
		for _, b := range bundles {
			e.files = append(e.files, b.File.String())
			raw, err := os.ReadFile(filepath.Join(dir, "bundles", b.File.String()))
			if err != nil {
				return nil, err
			}
			if kind == bundle.KindContribution {
				i := slices.IndexFunc(e.roster.Parties(), func(s *identity.Statement) bool { return s.Fingerprint() == b.Sender })
				e.manifests[e.roster.Parties()[i].Name] = b.Manifest
				if parts[i], err = e.open(raw, e.roster.Parties()[i], id); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, party := range e.roster.Parties() {
		waiting, err := st.Bundles(ctx, e.hash, e.epoch, party.Fingerprint())
		if err != nil {
			return nil, err
		}
		for _, b := range waiting {
			if b.Kind != bundle.KindResult {
				continue
			}
			if e.results[party.Name] != nil {
				return nil, fmt.Errorf("two results are stored for %s", party.Name)
			}
			if e.results[party.Name], err = os.ReadFile(filepath.Join(dir, "bundles", b.File.String())); err != nil {
				return nil, err
			}
		}
	}
	return e, e.train(ctx, parts)
}

// open reads a contribution.
func (e *expected) open(raw []byte, from *identity.Statement, id *identity.Identity) (analyst.Contribution, error) {
	out := analyst.Contribution{Party: from.Name}
	r, err := bundle.Open(bytes.NewReader(raw), int64(len(raw)), bundle.Expect{
		Study: e.hash, Epoch: e.epoch, Kind: bundle.KindContribution, Sender: from.Fingerprint(), SenderKey: from.SigningKey,
		Approver: from.Approver(), Recipient: id.Statement.Fingerprint(),
	}, id.AgeIdentity())
	if err != nil {
		return out, err
	}
	out.Anchor = *r.Manifest.Anchor
	rows, l := e.contract.MaxRows, e.contract.Basis.Dim
	if out.X, err = r.Matrix(release.MemberX, npy.Limits{Rows: rows, Cols: l}); err != nil {
		return out, err
	}
	if out.A, err = r.Matrix(release.MemberA, npy.Limits{Rows: e.contract.Anchor.Rows, Cols: l}); err != nil {
		return out, err
	}
	out.Labels, err = r.Ints(release.MemberY, npy.Limits{Rows: rows})
	return out, err
}

func (e *expected) train(ctx context.Context, parts []analyst.Contribution) error {
	g, err := analyst.Align(e.contract, e.epoch, parts)
	if err != nil {
		return err
	}
	trained, err := analyst.Train(ctx, e.contract, e.epoch, parts, g)
	if err != nil {
		return err
	}
	if e.outcome, err = trained.Outcome.Encode(); err != nil {
		return err
	}
	if e.model, err = onnx.FromModel(trained.Model); err != nil {
		return err
	}
	for i, party := range e.roster.Parties() {
		e.g[party.Name] = g.G[i]
	}
	if e.contract.Protocol != "nri" {
		return nil
	}
	all, err := analyst.Answer(e.contract, trained.Model, parts, g)
	if err != nil {
		return err
	}
	for i, party := range e.roster.Parties() {
		e.answers[party.Name] = all[i]
	}
	return nil
}

// finish checks a party's folder at the end, and its result and its model.
func (q *holder) finish(ctx context.Context, e *expected, dir string, sum *Result) error {
	s, err := site.Open(dir)
	if err != nil {
		return err
	}
	unlock, err := s.Lock() // sweeps
	if err != nil {
		return err
	}
	unlock()
	if err := noPartial(dir); err != nil {
		return err
	}
	if q.draft != e.manifests[q.name] {
		return errors.New("the analyst has another contribution than the one that was approved last")
	}
	if n, err := count(s.Path("ledger.jsonl"), q.draft.String()); err != nil || n != 1 {
		return fmt.Errorf("the ledger counts the contribution %d times (%v), must be once", n, err)
	}
	id, err := s.Identity()
	if err != nil {
		return err
	}
	raw := e.results[q.name]
	r, err := bundle.Open(bytes.NewReader(raw), int64(len(raw)), bundle.Expect{
		Study: e.hash, Epoch: e.epoch, Kind: bundle.KindResult, Sender: e.analyst.Fingerprint(), SenderKey: e.analyst.SigningKey, Recipient: id.Statement.Fingerprint(),
	}, id.AgeIdentity())
	if err != nil {
		return err
	}
	same, model, err := q.again(ctx, e, s, r)
	if err != nil {
		return err
	}
	if !same {
		return errors.New("the released result is not what the contributions give")
	}
	sum.Results++
	kept, err := s.Model()
	if err != nil {
		return err
	}
	if bytes.Equal(kept, model.Encode()) {
		sum.Models++
		return nil
	}
	return q.near(e, kept, model, sum)
}

// again computes a party's result and model anew, and compares the result bit for bit.
func (q *holder) again(ctx context.Context, e *expected, s *site.Site, r *bundle.Reader) (same bool, model *onnx.Graph, err error) {
	c := e.contract
	metrics, err := r.Bytes(release.MemberMetrics, release.MaxOutcomeBytes)
	if err != nil {
		return false, nil, err
	}
	if c.Protocol == "nri" {
		labels, err := r.Ints(release.MemberAnswers, npy.Limits{Rows: c.Anchor.Rows})
		if err != nil {
			return false, nil, err
		}
		seed, err := anchor.SeedFromBytes(secret.NewBytes(q.seed))
		if err != nil {
			return false, nil, err
		}
		model, _, err = party.Learn(ctx, c, e.hash, party.Agreed{Seed: seed}, party.Answers{Labels: labels})
		return slices.Equal(labels, e.answers[q.name].Labels) && bytes.Equal(metrics, e.outcome), model, err
	}
	g, err := r.Matrix(release.MemberG, npy.Limits{Rows: c.Basis.Dim, Cols: c.Basis.Dim})
	if err != nil {
		return false, nil, err
	}
	h, err := r.Bytes(release.MemberModel, onnx.MaxBytes)
	if err != nil {
		return false, nil, err
	}
	f, err := s.Basis(c.Width(), c.Basis.Dim)
	if err != nil {
		return false, nil, err
	}
	defer f.Erase()
	figures, err := q.figures(e, s)
	if err != nil {
		return false, nil, err
	}
	model, err = party.Accept(c, e.hash, party.Agreed{Figures: figures}, f, g, e.model)
	return mat.Equal(g, e.g[q.name]) && bytes.Equal(h, e.model.Encode()) && bytes.Equal(metrics, e.outcome), model, err
}

// mostApart is how much the scores of a model may differ from those of one that another
// build of the same program makes of the same numbers: its weights are float32.
const mostApart = 1e-5

// near compares the scores of two models that are not the same bytes.
func (q *holder) near(e *expected, kept []byte, model *onnx.Graph, sum *Result) error {
	own, err := onnx.Decode(kept)
	if err != nil {
		return err
	}
	t, err := table.Open(q.play.input(dataFile(len(names))), e.contract, table.Options{})
	if err != nil {
		return err
	}
	defer t.Erase()
	a, err := own.Run(t.X().Reveal())
	if err != nil {
		return err
	}
	b, err := model.Run(t.X().Reveal())
	if err != nil {
		return err
	}
	var apart mat.Dense
	apart.Sub(a.Scores, b.Scores)
	farthest := mat.Norm(&apart, math.Inf(1))
	sum.Farthest = max(sum.Farthest, farthest)
	if !(farthest <= mostApart) {
		return fmt.Errorf("the scores of its model differ by %g from those of one made of the same result", farthest)
	}
	return nil
}

// onlyThese makes sure that a folder has these files and no others.
func onlyThese(dir string, want []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(have, want) {
		return fmt.Errorf("after a sweep the store has %d files, its rows name %d", len(have), len(want))
	}
	return nil
}

// noPartial makes sure that a swept folder has no unfinished file.
func noPartial(dir string) error {
	return folder{dir: dir}.files(func(path string, _ []byte) error {
		if strings.Contains(path, ".partial-") {
			return fmt.Errorf("%s is left over after a sweep", path)
		}
		return nil
	})
}

// count is in how many lines of a file a word stands.
func count(path, word string) (int, error) {
	b, err := os.ReadFile(path)
	n := 0
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, word) {
			n++
		}
	}
	return n, err
}

// identityIn loads the analyst's keys.
func identityIn(dir string) (*identity.Identity, error) {
	b, err := os.ReadFile(filepath.Join(dir, "identity.secret"))
	if err != nil {
		return nil, err
	}
	return identity.Decode(secret.NewBytes(b))
}
