package concordd

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/identity"
	"concord/internal/build"
	"concord/internal/client"
	"concord/internal/doctor"
	"concord/internal/durable"
	"concord/internal/store"
	"concord/member"
	"concord/wire"
)

func (p *program) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what would stop a study, and say what helps",
		Long: `Looks at the analyst's folder: permissions, keys, database, room on the disk for what
the contracts let parties send, whether concordd serve runs, what an interrupted
command left; at the addresses to listen on and the public certificate. While
concordd serve runs, it goes the way that parties go, from this computer.

Each line begins with ok, warning or FAILED. Exit status 1 if a check failed.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := new(doctor.Report)
			r.OK("program", "concordd %s, %s/%s", build.Program(), runtime.GOOS, runtime.GOARCH)
			p.examine(cmd.Context(), r)
			return r.Write(p.out, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) examine(ctx context.Context, r *doctor.Report) {
	f, id, cfg, st, err := p.open()
	if err != nil {
		r.Err("folder", err, "restore the folder from a copy")
		return
	}
	defer st.Close()
	doctor.Folder(r, p.dir, secretFile)
	r.OK("identity", "%q, fingerprint %s", id.Statement.Name, id.Statement.Fingerprint().Short())
	p.examineStudies(ctx, r, st)
	if cfg.Web != nil && cfg.Web.Cert != "" {
		examineCertificate(r, cfg.Web)
	}
	serving := false
	switch unlock, err := durable.Lock(f.path("serve.lock")); {
	case errors.Is(err, durable.ErrLocked):
		serving = true
		r.OK("serve", "concordd serve runs from this folder")
	case err != nil:
		r.Err("serve", err, "run the program as the user who owns the folder")
	default:
		unlock()
		r.Warn("serve", "concordd serve does not run from this folder; parties cannot connect", "run concordd serve, or exchange files by give and take")
	}
	for _, way := range cfg.listening() {
		if !serving {
			examineListen(r, way)
		}
	}
	if serving {
		examineWays(ctx, r, cfg, id)
	}
}

// examineStudies reads every study and compares the room on the disk with what its
// parties may send, of which nothing may be there yet.
func (p *program) examineStudies(ctx context.Context, r *doctor.Report, st *store.Store) {
	studies, err := st.Studies(ctx)
	if err != nil {
		r.Err("database", err, "restore the folder from a copy")
		return
	}
	var need int64
	for _, s := range studies {
		c, err := contract.Decode(s.Contract)
		if err != nil {
			r.Err("database", err, "restore the folder from a copy")
			return
		}
		need += int64(c.Parties) * (c.Expect.UpBytes + int64(c.MaxRows)*c.Expect.UpBytesPerRow + c.Expect.DownBytes)
		if s.Problem != "" {
			r.Warn("study", fmt.Sprintf("%s could not be trained: %s", c.Name, s.Problem), "correct the cause; serve tries again when it starts")
		}
	}
	r.OK("database", "whole; studies: %d", len(studies))
	doctor.Disk(r, p.dir, need+1<<20, "what the parties of all studies may send at most, and results")
}

// expiring is how long before its end a certificate is a warning.
const expiring = 14 * 24 * time.Hour

func examineCertificate(r *doctor.Report, w *web) {
	pair, err := (&certificate{cert: w.Cert, key: w.Key}).get(nil)
	if err != nil {
		r.Err("certificate", err, "")
		return
	}
	cert, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		r.Err("certificate", err, "name another file with concordd reach")
		return
	}
	address, _, err := member.ParseServerURL(w.URL)
	if err != nil {
		r.Err("certificate", err, "run concordd reach")
		return
	}
	host, _, _ := net.SplitHostPort(address)
	until := cert.NotAfter.Format(time.DateOnly)
	switch left := time.Until(cert.NotAfter); {
	case left < 0:
		r.Fail("certificate", w.Cert+" ended on "+until, "renew it; serve reads the new file by itself")
	case cert.VerifyHostname(host) != nil:
		r.Fail("certificate", fmt.Sprintf("%s is not for %s, which invites name", w.Cert, host), "ask for a certificate of that name, or change the name with concordd reach")
	case left < expiring:
		r.Warn("certificate", w.Cert+" ends on "+until, "renew it; serve reads the new file by itself")
	default:
		r.OK("certificate", "%s, for %s until %s", w.Cert, host, until)
	}
}

// listening are the addresses on which serve answers.
func (c config) listening() []string {
	var out []string
	if c.Address != "" {
		out = append(out, c.Listen)
	}
	if c.Web != nil {
		out = append(out, c.Web.Listen)
	}
	return out
}

func examineListen(r *doctor.Report, address string) {
	ln, err := net.Listen("tcp", address)
	if err != nil {
		r.Err("listen", err, "another program has the port, or ports below 1024 need a right: name another with concordd reach")
		return
	}
	ln.Close()
	r.OK("listen", "%s is free", address)
}

// examineWays goes the way of the parties. What fails from here may work from
// elsewhere, so that it is a warning.
func examineWays(ctx context.Context, r *doctor.Report, cfg config, id *identity.Identity) {
	for _, tls := range []string{member.TLSPinned, member.TLSWebPKI} {
		if tls == member.TLSPinned && cfg.Address == "" || tls == member.TLSWebPKI && cfg.Web == nil {
			continue
		}
		invite, err := cfg.invite(tls, wire.Hash{}, id.Statement.Fingerprint())
		if err != nil {
			r.Err("server", err, "run concordd reach")
			continue
		}
		way := new(doctor.Report)
		c := doctor.Network(ctx, way, doctor.Server{
			Target: client.Invited(invite), Fingerprint: id.Statement.Fingerprint(), Analyst: id.Statement,
		}, id)
		if c != nil {
			c.Close()
		}
		for _, f := range way.Findings {
			if f.Verdict == doctor.Failed {
				f.Verdict = doctor.Warning
				f.Found += " (from this computer; parties may see it otherwise)"
			}
			r.Findings = append(r.Findings, f)
		}
	}
}

// secretFile reports whether a file in the analyst's folder holds what nobody else may
// read: keys, and the database with the hashes of invites.
func secretFile(name string) bool {
	return strings.HasSuffix(name, ".secret") || strings.HasPrefix(path.Base(name), "concord.db") || strings.HasPrefix(name, "bundles/")
}
