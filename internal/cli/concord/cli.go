// Package concord is the program concord: what a data holder runs at its own
// site. One command a file; each does one visit's worth of work and says what
// comes next.
package concord

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/identity"
	"concord/internal/cli"
	"concord/internal/client"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/pooled"
	"concord/wire"
)

// program is one run of concord.
type program struct {
	dir      string
	files    bool // this run exchanges files, whatever the site did before
	in       *bufio.Reader
	out, err io.Writer
}

// Run runs concord with the given arguments and returns its exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{in: bufio.NewReader(stdin), out: stdout, err: stderr}
	return cli.Run(ctx, p.root(), args, stdin, stdout, stderr)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "concord",
		Short: "A data holder's program: what leaves, leaves through it",
		Long: `concord is a data holder's side of a Concord study. Raw rows stay in this site's
folder and memory; what leaves is listed by review, approved by a person, signed
and sealed.

  concord join INVITE --name "North hospital"
  concord roster                       who takes part; compare the phrase
  concord roster confirm
  concord sync                         setup: agree the anchor with the other parties
  concord check data.csv               all that is wrong with a file, at once
  concord pool prepare data.csv        where the contract pools figures: this site's
                                       (then pool review, pool approve, sync)
  concord prepare data.csv             compute what would leave
  concord review                       look at it
  concord approve                      say yes to exactly that
  concord send
  concord receive                      when everybody has sent
  concord predict new.csv
  concord close                        when nobody else is to join: forget the anchor

Later: rekey takes new keys, admit gives the anchor to a party that came after
setup, withdraw leaves the study.

concord doctor says what stands in the way to the server, and what helps.

Without a network: --to FILE with join, roster confirm, sync and send writes a file
for the analyst instead of connecting, and concord take FILE takes what comes back.

Every command can be repeated. Exit status: 0 done, 1 failed, 2 wrong usage,
3 waiting for others.`,
	}
	root.PersistentFlags().StringVar(&p.dir, "dir", envOr("CONCORD_DIR", "concord-site"), "this site's folder (also CONCORD_DIR)")
	root.AddCommand(
		p.joinCommand(), p.approverCommand(), p.pieceCommand(), p.poolCommand(), p.publicCommand(), p.rosterCommand(), p.syncCommand(), p.checkCommand(), p.prepareCommand(),
		p.reviewCommand(), p.approveCommand(), p.sendCommand(), p.receiveCommand(), p.predictCommand(), p.statusCommand(),
		p.giveCommand(), p.takeCommand(), p.admitCommand(), p.rekeyCommand(), p.withdrawCommand(), p.closeCommand(), p.doctorCommand(),
	)
	root.AddCommand(p.auditCommand(), p.studyCommand())
	return root
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func (p *program) printf(format string, args ...any) { fmt.Fprintf(p.out, format, args...) }

// visit is what most commands need: the site and what it knows.
type visit struct {
	site *site.Site
	id   *identity.Identity
	// whole is the contract that was signed; contract is the same, or where the contract
	// has views and this site's is known what this site has of it.
	whole, contract *contract.Contract
	study           wire.Hash
	analyst         *identity.Statement
	target          client.Target
	files           bool // this site exchanges files with the analyst and does not connect
	// chain leads from the roster that people here confirmed to the present one, roster,
	// in its epoch. They are nil until somebody here has confirmed.
	chain  *member.Chain
	roster *member.Roster
	epoch  wire.Hash
	// past are the keys that this site had before id.
	past []*identity.Identity
	// pool is what is known of the pooled figures, once it was asked for.
	pool *pooled.Pool
}

// site opens the folder.
func (p *program) site() (*site.Site, error) {
	s, err := site.Open(p.dir)
	if errors.Is(err, site.ErrNoSite) {
		if j, _ := (&site.Site{Dir: p.dir}).Joining(); j != nil {
			return nil, &wire.Waiting{For: "the analyst's answer: this site has asked to join by a file (concord take the one that comes back)"}
		}
		err = wire.WithHint(err, "run concord join INVITE --name NAME first, or name the folder with --dir")
	}
	return s, err
}

// open loads the site. Every file is checked again: somebody may have edited
// it.
func (p *program) open() (*visit, error) {
	s, err := p.site()
	if err != nil {
		return nil, err
	}
	v := &visit{site: s}
	if v.id, err = s.Identity(); err != nil {
		return nil, err
	}
	if v.whole, v.study, err = s.Contract(); err != nil {
		return nil, err
	}
	v.contract = v.whole
	if view := v.viewHere(); view != "" {
		if err := v.through(view); err != nil {
			return nil, fmt.Errorf("the prepared contribution: %w", err)
		}
	}
	if v.analyst, err = s.Analyst(); err != nil {
		return nil, err
	}
	conn, err := s.Connection()
	if err != nil {
		return nil, err
	}
	if v.target, err = p.target(s, conn); err != nil {
		return nil, err
	}
	v.files = p.files || s.ByFile()
	return v, v.loadChain()
}

// target is how a site reaches its server.
func (p *program) target(s *site.Site, conn site.Connection) (client.Target, error) {
	t := client.Target{TLS: conn.TLS, Address: conn.Address, Prefix: conn.Prefix}
	tr := newTransfer(p.err)
	t.Progress = tr.show
	t.Notice = func(text string) {
		tr.clear()
		p.notice(text)
	}
	var err error
	t.Roots, err = s.Trusted()
	return t, err
}

// notice tells what a long wait is for.
func (p *program) notice(text string) { fmt.Fprintf(p.err, "concord: %s\n", text) }

// change is open for commands that change the site's folder: others are kept
// out until unlock is called.
func (p *program) change() (v *visit, unlock func(), err error) {
	s, err := p.site()
	if err != nil {
		return nil, nil, err
	}
	if unlock, err = s.Lock(); err != nil {
		return nil, nil, err
	}
	if v, err = p.open(); err == nil {
		err = v.finishRekey()
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return v, unlock, nil
}

// changeConfirmed is change for commands that need the confirmed roster.
func (p *program) changeConfirmed() (*visit, func(), error) {
	v, unlock, err := p.change()
	if err != nil {
		return nil, nil, err
	}
	if v.site.Has(site.WithdrawnFile) {
		err = wire.WithHint(errors.New("this site has withdrawn from the study"), "concord withdraw says again what was deleted and what remains")
	} else {
		err = v.needRoster()
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return v, unlock, nil
}

// needRoster refuses to go on before people here have confirmed the roster.
func (v *visit) needRoster() error {
	if candidate, err := v.site.Candidate(); v.roster == nil && candidate != nil && err == nil {
		return wire.WithHint(errors.New("the members have not confirmed this site yet, or it has not heard of it"), "run concord sync")
	}
	if v.roster == nil {
		return wire.WithHint(errors.New("nobody here has confirmed the roster yet"),
			"run concord roster, compare the phrase with the other parties, then concord roster confirm")
	}
	return nil
}

// dial connects to the server that the site joined, or opens what the analyst's parcels
// brought.
func (v *visit) dial() (post.Post, error) {
	if v.files {
		return post.NewBox(v.site)
	}
	return client.Connect(v.target, v.study, v.id, v.analyst)
}

// own is this site's fingerprint.
func (v *visit) own() wire.Hash { return v.id.Statement.Fingerprint() }

// others are the other parties' present statements.
func (v *visit) others() []*identity.Statement { return v.othersIn(v.roster) }
