package concord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/auditlog"
	"concord/member"
	"concord/wire"
)

func (p *program) auditCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show this site's audit log",
		Long: `Shows what happened here, an entry a line: when, what, with whom, of which bundle.
No entry holds data. With --json the lines are printed as they are signed; give
that file to whoever compares logs.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v, err := p.open()
			if err != nil {
				return err
			}
			l, err := v.auditLog()
			if err != nil {
				return err
			}
			if asJSON {
				return l.Copy(p.out)
			}
			return l.Show(p.out)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the lines as they are signed")
	var opt verifyOptions
	verify := &cobra.Command{
		Use:   "verify",
		Short: "Find any change in this site's audit log that can be found",
		Long: `Checks that the log is one chain of entries that this site signed, and that every
head of it which others hold is in it: in the analyst's receipts, in results and in
the analyst's own word. Checks too that what was heard of the others' logs never
went back and never had two versions.

Any edit, deletion, reordering or removal from the end is found up to the newest head
that somebody else holds; the answer says which entry that is, and since when nothing
is vouched for. --ask first tells the analyst this log's head and takes its word on
it. --with compares with another participant's log, which they printed with
concordd audit --json or concord audit --json. Exit status 1: something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.verifyAudit(cmd.Context(), opt) },
	}
	verify.Flags().BoolVar(&opt.json, "json", false, "print JSON")
	verify.Flags().BoolVar(&opt.ask, "ask", false, "exchange heads with the analyst first")
	verify.Flags().StringArrayVar(&opt.with, "with", nil, "another participant's log to compare with; may be repeated")
	cmd.AddCommand(verify)
	return cmd
}

type verifyOptions struct {
	json, ask bool
	with      []string
}

func (p *program) verifyAudit(ctx context.Context, opt verifyOptions) error {
	if opt.ask {
		if err := p.askHeads(ctx); err != nil {
			return err
		}
	}
	v, err := p.open()
	if err != nil {
		return err
	}
	l, err := v.auditLog()
	if err != nil {
		return err
	}
	for _, path := range opt.with {
		if err := l.OtherFile(path); err != nil {
			return err
		}
	}
	res, err := l.Verify()
	if errors.Is(err, fs.ErrNotExist) {
		return wire.WithHint(errors.New("there is no audit log here"), "a study that was begun by an older program has none until its next step; any other log was removed")
	}
	if err != nil {
		return err
	}
	if opt.json {
		if err := auditlog.WriteJSON(p.out, res); err != nil {
			return err
		}
	} else {
		res.Write(p.out)
	}
	if !res.OK {
		return wire.WithHint(errors.New("the audit log is not what it was"), "keep the folder as it is, and tell whoever answers for this site and the analyst")
	}
	return nil
}

// askHeads exchanges heads with the analyst, if the log is in order: a damaged one is
// not told of.
func (p *program) askHeads(ctx context.Context) error {
	v, unlock, err := p.change()
	if err != nil {
		return err
	}
	defer unlock()
	l, err := v.auditLog()
	if err != nil {
		return err
	}
	if res, err := l.Verify(); err != nil || !res.OK {
		return nil // the caller says so
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	if _, ok := c.(exchanger); !ok {
		return wire.WithHint(errors.New("this site exchanges files, and asks nobody"), "concord give, concordd take, concordd give and concord take exchange the heads as well")
	}
	return v.exchangeHeads(ctx, c)
}

// auditLog is this site's log with all that lies here of what others said.
func (v *visit) auditLog() (*auditlog.Log, error) {
	l := &auditlog.Log{
		Study: v.study, Owner: v.own(), Analyst: v.analyst.Fingerprint(), People: []*identity.Statement{v.id.Statement, v.analyst},
		Open: func() (io.ReadCloser, error) { return v.site.OpenAudit() },
	}
	if v.chain != nil {
		l.Owner = v.chain.Origin(v.own()) // who began it, whatever keys it has now
		l.Origin = v.chain.Origin
		l.People = append(l.People, v.chain.Everybody()...)
	}
	paths, err := filepath.Glob(v.site.Path("receipts", "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(b, []byte(`"by":`)) {
			w, err := member.DecodeWitness(b, v.analyst)
			if err != nil {
				l.Problems = append(l.Problems, fmt.Sprintf("%s: %v", path, err))
				continue
			}
			l.Witness(w)
			continue
		}
		r, err := member.DecodeReceipt(b, v.analyst)
		if err != nil {
			l.Problems = append(l.Problems, fmt.Sprintf("%s: %v", path, err))
			continue
		}
		l.Receipt(r, v.analyst.Fingerprint())
	}
	return l, v.bundleHeads(l)
}

// bundleHeads takes in the lines of the bundles that came.
func (v *visit) bundleHeads(l *auditlog.Log) error {
	paths, err := filepath.Glob(v.site.Path("inbox", "*.bundle"))
	if err != nil || v.roster == nil {
		return err
	}
	for _, path := range paths {
		env, err := readEnvelope(path)
		if err != nil {
			if errors.Is(err, bundle.ErrDamaged) {
				l.Problems = append(l.Problems, fmt.Sprintf("%s: %v", path, err))
				continue
			}
			return err
		}
		from := v.chain.Known(env.Sender)
		if from == nil {
			err = fmt.Errorf("%w: %s", member.ErrNotMember, env.Sender.Short())
		} else {
			err = env.Verify(from.SigningKey)
		}
		if err != nil {
			l.Problems = append(l.Problems, fmt.Sprintf("%s: %s", path, strings.TrimPrefix(err.Error(), "bundle: ")))
			continue
		}
		l.Envelope(env.Heads, env.Sender, env.Kind)
	}
	return nil
}
