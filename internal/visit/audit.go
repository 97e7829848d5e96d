package visit

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

	"concord/bundle"
	"concord/identity"
	"concord/internal/auditlog"
	"concord/member"
	"concord/wire"
)

// AuditLog is this site's log with all that lies here of what others said.
func (v *Visit) AuditLog() (*auditlog.Log, error) {
	l := &auditlog.Log{
		Study: v.Study, Owner: v.Own(), Analyst: v.analyst.Fingerprint(),
		People: []*identity.Statement{v.ID.Statement, v.analyst},
		Open:   func() (io.ReadCloser, error) { return v.site.OpenAudit() },
	}
	if v.Chain != nil {
		l.Owner = v.Chain.Origin(v.Own()) // who began it, whatever keys it has now
		l.Origin = v.Chain.Origin
		l.People = append(l.People, v.Chain.Everybody()...)
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
func (v *Visit) bundleHeads(l *auditlog.Log) error {
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
		from := v.Chain.Known(env.Sender)
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

// VerifyLog finds any change in this site's audit log that can be found, beside others' logs in
// files.
func (v *Visit) VerifyLog(with []string) (*auditlog.Result, error) {
	l, err := v.AuditLog()
	if err != nil {
		return nil, err
	}
	for _, path := range with {
		if err := l.OtherFile(path); err != nil {
			return nil, err
		}
	}
	res, err := l.Verify()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, wire.WithHint(errors.New("there is no audit log here"),
			"a study that was begun by an older program has none until its next step; any other log was removed")
	}
	return res, err
}

// AskHeads exchanges heads with the analyst, if the log is in order: a damaged one is
// not told of.
func (v *Visit) AskHeads(ctx context.Context) error {
	l, err := v.AuditLog()
	if err != nil {
		return err
	}
	if res, err := l.Verify(); err != nil || !res.OK {
		return nil // the caller says so
	}
	c, err := v.connect()
	if err != nil {
		return err
	}
	if _, ok := c.(exchanger); !ok {
		return wire.WithHint(errors.New("this site exchanges files, and asks nobody"),
			"concord give, concordd take, concord give and concord take exchange the heads as well")
	}
	return v.exchangeHeads(ctx, c)
}
