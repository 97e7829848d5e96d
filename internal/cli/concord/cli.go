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
	"strings"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/internal/visit"
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
	root := p.root()
	misuseIsUsage(root)
	return cli.Run(ctx, root, args, stdin, stdout, stderr)
}

func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "concord",
		Short: "A data holder's program: everything that leaves the site goes through it",
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
	root.PersistentFlags().StringVar(&p.dir, "dir", envOr("CONCORD_DIR", "concord-site"),
		"this site's folder (also CONCORD_DIR)")
	root.AddCommand(
		p.joinCommand(), p.approverCommand(), p.pieceCommand(), p.poolCommand(), p.publicCommand(), p.rosterCommand(),
		p.syncCommand(), p.checkCommand(), p.prepareCommand(),
		p.reviewCommand(), p.approveCommand(), p.sendCommand(), p.receiveCommand(), p.predictCommand(), p.statusCommand(),
		p.giveCommand(), p.takeCommand(), p.admitCommand(), p.rekeyCommand(), p.withdrawCommand(), p.closeCommand(),
		p.doctorCommand(),
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

// misuseIsUsage makes wrong usage of what this study or site does not have.
func misuseIsUsage(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			err := run(cmd, args)
			var misuse *visit.Misuse
			if errors.As(err, &misuse) {
				return &cli.UsageError{Err: err}
			}
			return err
		}
	}
	for _, sub := range cmd.Commands() {
		misuseIsUsage(sub)
	}
}

// visit opens this site's folder for one step of it.
func (p *program) visit(n visit.Need, do func(v *visit.Visit) error) error {
	v, err := visit.Open(p.dir, n, p.options())
	if err != nil {
		return err
	}
	defer v.End()
	return do(v)
}

// options are how this run reaches the analyst, and how it tells people.
func (p *program) options() visit.Options {
	tr := newTransfer(p.err)
	return visit.Options{
		Files: p.files, Tell: p.tell, Progress: tr.show,
		Notice: func(text string) {
			tr.clear()
			fmt.Fprintf(p.err, "concord: %s\n", text)
		},
	}
}

// yes asks for a yes; everything else is a no.
func (p *program) yes(question string) bool {
	p.printf("%s", question)
	answer, err := p.in.ReadString('\n')
	if err != nil { // the answer, or its end, left the line open
		p.printf("\n")
	}
	return strings.ToLower(strings.TrimSpace(answer)) == "yes"
}
