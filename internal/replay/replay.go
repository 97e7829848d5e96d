// Package replay verifies what an analyst exported to an auditor, and computes the
// results of the study again.
//
// Start with [Run]. It trusts the auditor's key, the statement of the analyst that the
// auditor knows by its fingerprint, and nothing else in the file.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"concord/audit"
	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/auditlog"
	"concord/internal/build"
	"concord/internal/dossier"
	"concord/linalg"
	"concord/member"
	"concord/wire"
)

// DefaultTolerance is how far numbers may differ that were computed by another program
// or with another backend, relative to the largest of them: training stops at about
// 1e-8, and what differs in the last digits before it may be magnified by as much as the
// data are ill-conditioned.
const DefaultTolerance = 1e-6

// Options say how to replay.
type Options struct {
	// Tolerance is DefaultTolerance if it is 0.
	Tolerance float64
	// Progress, if set, is told what is being done.
	Progress func(what string)
}

// Line is one thing that was looked at.
type Line struct {
	// Mark is "ok", "same", "near", "gone" or "DIFF".
	Mark string `json:"mark"`
	Text string `json:"text"`
}

// Marks of lines.
const (
	OK     = "ok"   // verified
	Same   = "same" // computed again, every byte
	Near   = "near" // computed again, within the tolerance
	Gone   = "gone" // cannot be computed any more
	Differ = "DIFF" // wrong
)

// Report is what a replay found.
type Report struct {
	Study   wire.Hash `json:"study"`
	Name    string    `json:"name"`
	Analyst string    `json:"analyst"`
	// Fingerprint is the analyst's: compare it with what the parties have.
	Fingerprint wire.Hash `json:"fingerprint"`
	Exported    time.Time `json:"exported"`
	// Program and Backend computed the replay.
	Program string `json:"program"`
	Backend string `json:"backend"`
	// OK is false if any line differs.
	OK    bool   `json:"ok"`
	Lines []Line `json:"lines"`
}

func (r *Report) add(mark, format string, args ...any) {
	r.Lines = append(r.Lines, Line{mark, wire.Printable(fmt.Sprintf(format, args...))})
	if mark == Differ {
		r.OK = false
	}
}

// check adds a line that is ok, or what is wrong.
func (r *Report) check(err error, format string, args ...any) bool {
	if err != nil {
		r.add(Differ, "%s: %v", fmt.Sprintf(format, args...), err)
		return false
	}
	r.add(OK, format, args...)
	return true
}

// replay is one run.
type replay struct {
	*Report
	opt      Options
	d        *dossier.Dossier
	auditor  *identity.Identity
	analyst  *identity.Statement
	contract *contract.Contract
	people   []*identity.Statement
	chain    *member.Chain
	gone     []dossier.Gone
	entries  []audit.Entry // of the log, as far as it is in order
	// inside are the bundles' envelopes, by manifest.
	envelopes map[wire.Hash]*bundle.Envelope
	models    map[int]*made // computed again, by round
}

// Run verifies a dossier and computes its results again. The error says why that
// cannot be done at all; what is wrong otherwise is in the report.
func Run(ctx context.Context, d *dossier.Dossier, auditor *identity.Identity, opt Options) (*Report, error) {
	if opt.Tolerance == 0 {
		opt.Tolerance = DefaultTolerance
	}
	if opt.Progress == nil {
		opt.Progress = func(string) {}
	}
	r := &replay{
		Report: &Report{Study: d.Index.Study, Exported: d.Index.Time, OK: true, Program: build.Program(), Backend: linalg.Backend().String()},
		opt:    opt, d: d, auditor: auditor, envelopes: map[wire.Hash]*bundle.Envelope{}, models: map[int]*made{},
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if !r.roster() {
		return r.Report, nil // nothing that follows means anything
	}
	if err := r.log(); err != nil {
		return nil, err
	}
	if err := r.bundles(); err != nil {
		return nil, err
	}
	r.told()
	for _, round := range d.Index.Rounds {
		if err := r.round(ctx, round); err != nil {
			return nil, err
		}
	}
	if len(d.Index.Rounds) == 0 {
		r.add(OK, "no result was released yet")
	}
	return r.Report, nil
}

// begin checks the file as a whole, and the contract.
func (r *replay) begin() error {
	x := r.d.Index
	b, err := r.d.Bytes(dossier.Name(dossier.Person, x.Analyst), identity.MaxStatementBytes)
	if err != nil {
		return err
	}
	if r.analyst, err = identity.DecodeStatement(b); err != nil {
		return err
	}
	if r.analyst.Fingerprint() != x.Analyst || r.analyst.Role != identity.RoleAnalyst {
		return errors.New("the export's analyst is not who it says")
	}
	r.Analyst, r.Fingerprint = r.analyst.Name, x.Analyst
	r.opt.Progress("reading everything once")
	if err := r.d.Verify(r.analyst); err != nil {
		return err
	}
	r.add(OK, "the export: %d files, as the analyst %q (%s) signed them", len(x.Files), r.analyst.Name, x.Analyst.Short())
	agreed, err := r.d.Bytes(dossier.Contract, contract.MaxBytes)
	if err != nil {
		return err
	}
	if wire.HashOf(agreed) != x.Study {
		return errors.New("the contract is not the study's")
	}
	if r.contract, err = contract.Decode(agreed); err != nil {
		return err
	}
	r.Name = r.contract.Name
	own := r.auditor.Statement.Fingerprint()
	if !slices.ContainsFunc(r.contract.Auditors, func(a contract.Auditor) bool { return a.Fingerprint == own }) {
		r.add(Differ, "the contract %s does not name this auditor: its parties have not agreed to this export", x.Study.Short())
	} else {
		r.add(OK, "the contract %s names this auditor", x.Study.Short())
	}
	return nil
}

// roster checks who took part, and that they confirmed it.
func (r *replay) roster() bool {
	chain, confirmed, err := r.rosters()
	if err != nil {
		return r.check(err, "who takes part")
	}
	r.chain = chain
	text := fmt.Sprintf("roster %d of %d parties and the analyst", chain.Head().Number, len(chain.Head().Parties()))
	if n := len(chain.Steps()); n > 0 {
		text += fmt.Sprintf(", by %d signed amendments", n)
	}
	r.add(OK, "%s; words %s", text, strings.Join(member.Phrase(chain.Setup()), " "))
	var missing []string
	for _, m := range chain.Root().Members {
		if !confirmed[m.Fingerprint()] {
			missing = append(missing, m.Name)
		}
	}
	switch {
	case missing != nil && len(r.d.Index.Rounds) > 0: // nobody contributes before
		r.add(Differ, "a model was made, and not everybody has confirmed contract and roster: %s", strings.Join(missing, ", "))
	case missing != nil:
		r.add(OK, "not everybody has confirmed contract and roster yet: %s", strings.Join(missing, ", "))
	default:
		r.add(OK, "contract and roster are confirmed by everybody in it, %d signatures", len(confirmed))
	}
	return true
}

func (r *replay) rosters() (*member.Chain, map[wire.Hash]bool, error) {
	var standing dossier.Standing
	if err := r.d.JSON(dossier.Roster, 64<<20, &standing); err != nil {
		return nil, nil, err
	}
	var confirmations []*member.Confirmation
	for _, f := range r.d.Index.Files {
		switch dir, _, _ := strings.Cut(f.Name, "/"); dir {
		case "people":
			b, err := r.d.Bytes(f.Name, identity.MaxStatementBytes)
			if err != nil {
				return nil, nil, err
			}
			s, err := identity.DecodeStatement(b)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			r.people = append(r.people, s)
		case "confirmations":
			b, err := r.d.Bytes(f.Name, member.MaxConfirmationBytes)
			if err != nil {
				return nil, nil, err
			}
			c, err := member.DecodeConfirmation(b)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", f.Name, err)
			}
			confirmations = append(confirmations, c)
		}
	}
	members := []*identity.Statement{r.analyst}
	for _, fp := range standing.Parties {
		s := r.person(fp)
		if s == nil {
			return nil, nil, fmt.Errorf("the statement of %s is missing", fp.Short())
		}
		members = append(members, s)
	}
	root, err := member.NewRoster(r.contract, standing.Number, members)
	if err != nil {
		return nil, nil, err
	}
	chain := member.NewChain(r.contract, r.Study, root)
	for i, raw := range standing.Amendments {
		a, err := member.DecodeAmendment(raw)
		if err != nil {
			return nil, nil, err
		}
		after := slices.DeleteFunc(slices.Clone(confirmations), func(c *member.Confirmation) bool { return c.Epoch != a.To })
		if err := chain.Extend(a, after); err != nil {
			return nil, nil, fmt.Errorf("amendment %d: %w", i+1, err)
		}
	}
	confirmed := map[wire.Hash]bool{}
	for _, c := range confirmations {
		if c.Epoch != chain.Setup() {
			continue
		}
		if err := c.Check(root, r.Study); err != nil {
			return nil, nil, err
		}
		confirmed[c.Party] = true
	}
	return chain, confirmed, nil
}

func (r *replay) person(fingerprint wire.Hash) *identity.Statement {
	for _, s := range r.people {
		if s.Fingerprint() == fingerprint {
			return s
		}
	}
	return nil
}

func (r *replay) name(fingerprint wire.Hash) string {
	if s := r.person(fingerprint); s != nil {
		return s.Name
	}
	return fingerprint.Short()
}

// log checks the analyst's audit log beside all that parties and receipts say of it.
func (r *replay) log() error {
	l := &auditlog.Log{
		Study: r.Study, Owner: r.Fingerprint, Analyst: r.Fingerprint, Origin: r.chain.Origin, People: append(slices.Clone(r.people), r.auditor.Statement),
		Open: func() (io.ReadCloser, error) { return r.section(dossier.AuditLog) },
	}
	var receipts []audit.Voucher
	for _, f := range r.d.Index.Files {
		dir, rest, _ := strings.Cut(f.Name, "/")
		var err error
		switch {
		case dir == "testimonies" && strings.HasSuffix(rest, ".line"):
			err = r.lineSaid(l, f.Name)
		case dir == "testimonies":
			err = r.witnessSaid(l, f.Name)
		case dir == "receipts":
			var receipt *member.Receipt
			if receipt, err = r.receipt(f.Name); err == nil && receipt.Heads != nil && receipt.Heads.Own != nil {
				receipts = append(receipts, audit.Voucher{Head: *receipt.Heads.Own, By: r.Analyst, What: "its own receipt of " + receipt.Received.Format(time.RFC3339)})
			}
		}
		if err != nil {
			l.Problems = append(l.Problems, fmt.Sprintf("%s: %v", f.Name, err))
		}
	}
	found, err := l.Verify()
	if err != nil {
		return err
	}
	for _, p := range found.Problems {
		r.add(Differ, "the audit log: %s", p)
	}
	if !found.OK {
		return nil
	}
	in, err := r.section(dossier.AuditLog)
	if err != nil {
		return err
	}
	chain, err := audit.Verify(in, r.Fingerprint, r.Study, audit.KeysOf(r.analyst), func(e *audit.Entry) error {
		r.entries = append(r.entries, *e)
		return nil
	})
	if err != nil {
		return err
	}
	if _, err := chain.Check(receipts); err != nil {
		r.add(Differ, "the audit log: %v", err)
		return nil
	}
	r.add(OK, "the audit log: %d entries, chained and signed; %s", found.Entries, found.Vouched)
	return nil
}
