// Package lab is the program concord-lab: the demonstration, alignment of
// NumPy files, and benchmarks. It sees everything at once; nobody in a study
// runs it.
package lab

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/internal/demo"
)

// Run runs concord-lab with the given arguments and returns its exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "concord-lab",
		Short: "The laboratory: see what a collaboration would gain",
		Long: `concord-lab is for researchers and newcomers. It plays all roles at once.

  concord-lab demo         three hospitals train one model, in ten seconds
  concord-lab simulate     would a collaboration on a table be worth it?
  concord-lab compare      what the sites of a study would have alone, and in one place
  concord-lab reproduce    the published experiments, ours beside theirs
  concord-lab faces        pictures, what of them leaves, what collusion gives back
  concord-lab traffic      how many bytes it sends
  concord-lab data         the published data sets, and where they come from
  concord-lab align        change-of-basis matrices of NumPy files, by any method
  concord-lab bench align  how long one takes
  concord-lab bench learn  how long a learner takes on NumPy files
  concord-lab doctor       what computes on this machine

Exit status: 0 done, 1 failed, 2 wrong usage.`,
	}
	root.AddCommand(demoCommand(stdout), simulateCommand(stdout, stderr), reproduceCommand(stdout, stderr), alignCommand(stdout, stderr), benchCommand(stdout), trafficCommand(stdout), facesCommand(stdout), dataCommand(stdout), compareCommand(stdout), patientsCommand(stdout), doctorCommand(stdout))
	return cli.Run(ctx, root, args, stdin, stdout, stderr)
}

func demoCommand(stdout io.Writer) *cobra.Command {
	var opt demo.Options
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a whole study on embedded data: a server and three hospitals",
		Long: `Splits the embedded breast-cancer data over three hospitals of 220, 120 and 25
rows and a held-out test set, starts the real server on loopback, and has every
hospital join, agree the anchor, prepare, review, approve, send, receive and
score in a folder of its own, with the commands that concord and concordd have.

Prints, for each hospital, its local model, the collaboration and the central
model that a demonstration may compute because it sees all rows. Writes
DIR/report.html and each hospital's model.onnx.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return demo.Run(cmd.Context(), stdout, opt) },
	}
	cmd.Flags().IntVar(&opt.Parties, "parties", 3, "number of hospitals, 3 to 8; beyond three they have 25 rows each")
	cmd.Flags().StringVar(&opt.Model, "model", "", "what is trained: logistic (default), ridge, svm-linear, mlp, forest or boosting")
	cmd.Flags().StringVar(&opt.Protocol, "protocol", "dc", "dc, or nri: no hospital keeps what tells whose row is whose")
	cmd.Flags().StringVar(&opt.Dir, "out", "demo-out", "folder for the report, the models and all that each role kept; a demo's folder is replaced")
	cmd.Flags().BoolVar(&opt.Files, "files", false, "no server and no connection: the hospitals bring files (docs/by-file.md)")
	cmd.Flags().BoolVar(&opt.Verbose, "verbose", false, "show what every command prints")
	return cmd
}
