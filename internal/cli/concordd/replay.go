package concordd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"concord/internal/auditlog"
	"concord/internal/cli"
	"concord/internal/dossier"
	"concord/internal/replay"
	"concord/wire"
)

func (p *program) replayCommand() *cobra.Command {
	var asJSON bool
	var analyst string
	var tolerance float64
	cmd := &cobra.Command{
		Use:   "replay EXPORT",
		Short: "Verify an export and compute its results again (for auditors)",
		Long: `Opens what concordd export sealed to this auditor, with the keys in the auditor's
folder (--dir), and looks at everything: that the parties signed contract, roster and
contributions, that the analyst acknowledged exactly those, that the audit log is
whole and tells of all of it. Then it aligns and trains again, and compares.

  ok    verified
  same  computed again, every byte the same
  near  computed again by another program or backend, within --tolerance
  gone  cannot be computed any more, and since when
  DIFF  wrong; the exit status is 1

Who the analyst is, the file says itself: compare the fingerprint, or the twelve words,
with what a party has, or give the fingerprint with --analyst.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.replay(cmd.Context(), args[0], analyst, tolerance, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&analyst, "analyst", "", "the first digits, 12 at least, of the fingerprint that the analyst must have")
	cmd.Flags().Float64Var(&tolerance, "tolerance", replay.DefaultTolerance, "how far numbers of another program or backend may differ, relative to the largest")
	return cmd
}

func (p *program) replay(ctx context.Context, path, analyst string, tolerance float64, asJSON bool) error {
	if !(tolerance > 0 && tolerance < 1) {
		return cli.Usagef("--tolerance is %g, must be above 0 and below 1", tolerance)
	}
	if analyst != "" && len(analyst) < 12 {
		return cli.Usagef("give at least 12 digits of the analyst's fingerprint, or none")
	}
	id, err := p.auditor()
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	d, err := dossier.Open(f, info.Size(), id.AgeIdentity())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err) // which has a hint
	}
	if !strings.HasPrefix(d.Index.Analyst.String(), analyst) {
		return fmt.Errorf("%s is by the analyst %s, not by %s", path, d.Index.Analyst, analyst)
	}
	report, err := replay.Run(ctx, d, id, replay.Options{
		Tolerance: tolerance,
		Progress:  func(what string) { fmt.Fprintf(p.err, "concord: %s\n", what) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if asJSON {
		err = auditlog.WriteJSON(p.out, report)
	} else {
		fmt.Fprintf(p.out, "%s, study %s, exported by %q at %s\n", wire.Printable(report.Name), report.Study.Short(), wire.Printable(report.Analyst), report.Exported.Format(time.RFC3339))
		fmt.Fprintf(p.out, "the analyst's fingerprint is %s\n", report.Fingerprint)
		fmt.Fprintf(p.out, "computed again by %s with %s\n", report.Program, report.Backend)
		for _, l := range report.Lines {
			fmt.Fprintf(p.out, "  %-4s  %s\n", l.Mark, l.Text)
		}
	}
	if err != nil {
		return err
	}
	if !report.OK {
		return errors.New("the export does not bear out the study; DIFF marks what is wrong")
	}
	return nil
}
