// Package stress is the program concord-stress: studies under kills, power cuts, bad
// lines and malformed requests, and what a server under load and a large contribution
// take. It is for developers and operators; nobody in a study runs it.
package stress

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/test/chaos"
	"concord/wire"
)

// Run runs concord-stress with the given arguments and returns its exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "concord-stress",
		Short: "Put studies, a server and an upload under stress",
		Long: `concord-stress plays studies on this machine and measures or disturbs them.

  concord-stress chaos   what kills, power cuts and bad lines do to a study
  concord-stress server  what many parties at once wait for
  concord-stress upload  how fast a contribution travels, and in how much memory

Exit status: 0 done, 1 failed, 2 wrong usage.`,
	}
	root.AddCommand(chaosCommand(stdout, stderr), serverCommand(stdout), uploadCommand(stdout, stderr))
	return cli.Run(ctx, root, args, stdin, stdout, stderr)
}

// programsIn finds concord and concordd in a folder, by default that of this program.
func programsIn(dir string) (chaos.Programs, error) {
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			return chaos.Programs{}, err
		}
		dir = filepath.Dir(self)
	}
	programs, err := chaos.In(dir)
	if err != nil {
		return programs, wire.WithHint(err, "build them (make build stress), or name their folder with --programs")
	}
	return programs, nil
}

// sayTo prints lines for people who wait.
func sayTo(w io.Writer) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
}
