package concord

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/internal/checkpage"
	"concord/internal/cli"
	"concord/internal/visit"
	"concord/table"
	"concord/table/profile"
	"concord/wire"
)

func (p *program) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check DATA",
		Short: "Compare a file with the contract; nothing is prepared",
		Long: `Reads the file once and says all that is wrong with it, with cures: columns, cells by
line and column, labels, people, floors; and what to think about: columns that seem to
be in another unit than the contract's, rows that occur twice, columns that are mostly
empty. Where the parties have pooled figures, each column is compared with the same
column at the other sites together; the others' figures are computed here, and nothing
leaves; where none stands out, a line says so.

--html writes a page to read or print, --json all figures for programs. Both hold the
smallest and largest values of columns: they stay at the site. --flag prints what to
tell the other sites where a unit seems to differ; it names the feature and no figure.

Exit status: 0 the file fits the contract, 1 it does not.`,
		Args: cobra.ExactArgs(1),
	}
	data := addDataFlags(cmd)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&f.Page, "html", "", "write the report as an HTML file")
	cmd.Flags().BoolVar(&f.flag, "flag", false, "print what to tell the other sites of units that seem to differ")
	cmd.Flags().StringVar(&f.View, "view", "", viewFlag)
	cmd.Flags().StringVar(&f.Figures, "figures", "", "pooled figures from a file, in place of those that this site has")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opt, err := data.options()
		if err != nil {
			return err
		}
		if f.asJSON && f.flag {
			return cli.Usagef("--flag prints sentences to pass on, and --json nothing but the report for programs; run " +
				"concord check once with each")
		}
		if cmd.Flags().Changed("html") && f.Page == "" {
			return cli.Usagef("--html names a file; the page is not printed")
		}
		return p.visit(visit.Looking, func(v *visit.Visit) error { return p.check(v, args[0], opt, f) })
	}
	return cmd
}

// printCheck says what is wrong first, and then the figures that people ask for.
func (p *program) printCheck(r *profile.Report, directions []string) {
	people := ""
	if r.People != nil {
		people = " of " + countedPeople(r.People.Count)
	}
	source := ""
	if r.Source != "" {
		source = " (" + r.Source + ")"
	}
	if r.Rows == 0 && len(r.Problems) > 0 {
		p.printf("%s%s: no row could be read\n", r.File, source)
	} else {
		p.printf("%s: %s%s, %s%s\n", r.File, visit.Counted(r.Rows, "row"), people,
			visit.Counted(len(r.Features), "feature"), source)
	}
	if len(r.Problems) > 0 {
		p.printf("\nto mend:\n")
		p.printFound("!", r.Problems)
	}
	if len(r.Remarks) > 0 {
		p.printf("\nto think about:\n")
		p.printFound("-", r.Remarks)
	}
	if len(r.Problems)+len(r.Remarks) > 0 {
		p.printf("\n")
	}
	for _, c := range r.Label.Classes {
		if r.Rows > 0 {
			p.printf("  %s %s: %s\n", r.Label.Name, c.Level, visit.Counted(int(c.Rows), "row"))
		}
	}
	var missing []string
	for _, f := range r.Features {
		if f.Missing > 0 {
			rule := f.Rule
			if rule == contract.MissingRefuse {
				rule = "refused"
			}
			missing = append(missing, fmt.Sprintf("%s %d (%s)", f.Name, f.Missing, rule))
		}
	}
	if missing != nil {
		const most = 12
		more := ""
		if n := len(missing) - most; n > 0 {
			missing, more = missing[:most], fmt.Sprintf(" and %d more features", n)
		}
		p.printf("  %s\n", wrapped("missing cells: "+strings.Join(missing, ", ")+more, 4, 100))
	}
	for _, line := range directions {
		p.printf("%s\n", line)
	}
}

// stands says whether a column stands out against the other sites.
func stands(r *profile.Report) bool {
	return slices.ContainsFunc(r.Remarks,
		func(f profile.Finding) bool { return f.Kind == "unit" || f.Kind == "differs" || f.Kind == "level" })
}

func countedPeople(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// printFound prints findings, at most forty.
func (p *program) printFound(mark string, list []profile.Finding) {
	const most = 40
	for i, f := range list {
		if i == most {
			p.printf("%s and %d more; --json or --html has all\n", mark, len(list)-most)
			return
		}
		text := f.Text
		if f.Feature != "" {
			text = f.Feature + ": " + text
		}
		if lines := checkpage.Lines(f); lines != "" {
			text += " (" + lines + ")"
		}
		p.printf("%s\n", wrapped(wire.Printable(mark+" "+text), 2, 100))
		if f.Cure != "" {
			p.printf("    %s\n", wrapped(wire.Printable(f.Cure), 4, 96))
		}
	}
}

// printFlag prints what to tell the others.
func (p *program) printFlag(r *profile.Report) {
	n := 0
	for _, f := range r.Remarks {
		if f.Kind != "unit" && f.Kind != "differs" {
			continue
		}
		if n++; n == 1 {
			p.printf("\nto tell the other sites, by the way on which the phrase was compared:\n")
		}
		p.printf("  in the study %q, %s\n    by the exchange: concord pool flag %s\n", r.Study,
			visit.UnitNote(f.Feature).Sentence(), quoted(f.Feature))
	}
	if n == 0 {
		p.printf("\nthere is nothing to tell the other sites: no unit seems to differ\n")
	}
}

// checkFlags are those of concord check beside dataFlags.
type checkFlags struct {
	visit.Checking
	asJSON, flag bool
}

func (p *program) check(v *visit.Visit, path string, to table.Options, f checkFlags) error {
	shown := p.out
	if f.asJSON {
		p.out = p.err // nothing but JSON is printed
	}
	done, err := v.Check(path, to, f.Checking)
	p.out = shown
	if err != nil {
		return err
	}
	r := done.Report
	if f.asJSON {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		p.printf("%s\n", b)
	} else {
		p.printCheck(r, done.Directions)
		if done.Compared && r.Complete && r.Rows > 0 && !stands(r) {
			p.printf("compared with the pooled figures of the other sites: no column stands out\n")
		}
		if f.Page != "" {
			p.printf("wrote %s: open it with a browser; it holds figures of this site's own rows, so keep it here\n", f.Page)
		}
		if f.flag {
			p.printFlag(r)
		}
	}
	if !r.Fits {
		return wire.WithHint(fmt.Errorf("%s does not fit the contract: %s to mend", r.File,
			visit.Counted(len(r.Problems), "thing")), "mend the file and check it again; each ! above says how")
	}
	if !f.asJSON {
		p.printf("the file fits the contract\n")
	}
	return nil
}
