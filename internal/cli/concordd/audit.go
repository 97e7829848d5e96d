package concordd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/auditlog"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

func (p *program) auditCommand() *cobra.Command {
	var opt auditOptions
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show a study's audit log",
		Long: `Shows what happened in a study as the server saw it, an entry a line. No entry
holds data. With --json the lines are printed as they are signed; give that file to
whoever compares logs. --server shows the server's own log: requests that it turned
away.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.showAudit(cmd.Context(), opt) },
	}
	verify := &cobra.Command{
		Use:   "verify",
		Short: "Find any change in the audit logs that can be found",
		Long: `Checks each study's log, and the server's own: that it is one chain of entries that
this analyst signed, and that every head of it which parties hold is in it, as they
said so in what they sealed and signed. Checks too that what was heard of the
parties' logs never went back and never had two versions.

Any edit, deletion, reordering or removal from the end is found up to the newest head
that a party holds; the answer says which entry that is, and since when nothing is
vouched for. --with compares with a party's log, which it printed with concord audit
--json. Exit status 1: something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.verifyAudit(cmd.Context(), opt) },
	}
	for _, c := range []*cobra.Command{cmd, verify} {
		c.Flags().BoolVar(&opt.json, "json", false, "print JSON")
		c.Flags().StringVar(&opt.study, "study", "", "the first digits of the study's hash, if there are several")
		c.Flags().BoolVar(&opt.server, "server", false, "the server's own log, of no study")
	}
	verify.Flags().StringArrayVar(&opt.with, "with", nil, "a party's log to compare with; may be repeated, and needs --study if there are several")
	cmd.AddCommand(verify)
	return cmd
}

type auditOptions struct {
	json, server bool
	study        string
	with         []string
}

func (p *program) showAudit(ctx context.Context, opt auditOptions) error {
	_, id, _, st, err := p.open()
	if err != nil {
		return err
	}
	defer st.Close()
	var hash wire.Hash
	if !opt.server {
		s, err := pick(ctx, st, opt.study)
		if err != nil {
			return err
		}
		hash = s.Hash
	}
	l, err := auditLog(ctx, st, id, hash)
	if err != nil {
		return err
	}
	if opt.json {
		return l.Copy(p.out)
	}
	return l.Show(p.out)
}

func (p *program) verifyAudit(ctx context.Context, opt auditOptions) error {
	_, id, _, st, err := p.open()
	if err != nil {
		return err
	}
	defer st.Close()
	var which []store.Study
	switch {
	case opt.server:
		which = []store.Study{{}}
	case opt.study != "" || opt.with != nil:
		s, err := pick(ctx, st, opt.study)
		if err != nil {
			return err
		}
		which = []store.Study{s}
	default:
		if which, err = st.Studies(ctx); err != nil {
			return err
		}
		which = append(which, store.Study{})
	}
	results := []*auditlog.Result{}
	good := true
	for _, s := range which {
		l, err := auditLog(ctx, st, id, s.Hash)
		if err != nil {
			return err
		}
		for _, path := range opt.with {
			if err := l.OtherFile(path); err != nil {
				return err
			}
		}
		res, err := l.Verify()
		if err != nil {
			return err
		}
		results = append(results, res)
		good = good && res.OK
		if opt.json {
			continue
		}
		if s.Hash.IsZero() {
			fmt.Fprintf(p.out, "the server's own log\n")
		} else {
			fmt.Fprintf(p.out, "study %s\n", s.Hash.Short())
		}
		res.Write(p.out)
	}
	if opt.json {
		if err := auditlog.WriteJSON(p.out, results); err != nil {
			return err
		}
	}
	if !good {
		return wire.WithHint(errors.New("an audit log is not what it was"), "keep the folder as it is, and tell the parties")
	}
	return nil
}

// auditLog is a study's log with all that the store has of what parties said.
func auditLog(ctx context.Context, st *store.Store, id *identity.Identity, hash wire.Hash) (*auditlog.Log, error) {
	l := &auditlog.Log{
		Study: hash, Owner: id.Statement.Fingerprint(), Analyst: id.Statement.Fingerprint(), People: []*identity.Statement{id.Statement},
		Open: func() (io.ReadCloser, error) {
			r, w := io.Pipe() // closing r ends the writer
			go func() { w.CloseWithError(st.WriteAudit(ctx, hash, w)) }()
			return r, nil
		},
	}
	people, err := st.People(ctx, hash)
	if err != nil {
		return nil, err
	}
	l.People = append(l.People, people...)
	standing, err := st.Standing(ctx, hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) { // the server's own log is of no study
		return nil, err
	}
	origins := map[wire.Hash]wire.Hash{}
	for _, a := range standing.Steps {
		if a.Kind != member.AmendRekey {
			continue
		}
		first := a.Party
		if known, ok := origins[first]; ok {
			first = known
		}
		origins[wire.HashOf(a.Statement)] = first
	}
	l.Origin = func(fingerprint wire.Hash) wire.Hash { return origins[fingerprint] }
	said, err := st.Testimonies(ctx, hash)
	if err != nil {
		return nil, err
	}
	for _, t := range said {
		if err := testimony(l, t); err != nil {
			l.Problems = append(l.Problems, fmt.Sprintf("what %s signed: %v", l.Name(t.Party), err))
		}
	}
	return l, nil
}

// testimony takes in what a party signed, after its signature.
func testimony(l *auditlog.Log, t store.Testimony) error {
	var by *identity.Statement
	for _, s := range l.People {
		if s.Fingerprint() == t.Party {
			by = s
		}
	}
	if by == nil {
		return errors.New("its identity statement is not here any more")
	}
	if t.Witness != nil {
		w, err := member.DecodeWitness(t.Witness, by)
		if err == nil {
			l.Witness(w)
		}
		return err
	}
	env, _, err := bundle.ReadEnvelope(bytes.NewReader(t.Envelope))
	if err != nil {
		return err
	}
	if err := env.Verify(by.SigningKey); err != nil {
		return err
	}
	l.Envelope(env.Heads, env.Sender, env.Kind)
	return nil
}
