package lab

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/lab/patients"
)

func patientsCommand(stdout io.Writer) *cobra.Command {
	var repeats int
	var seed uint64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "patients",
		Short: "Show who is who among the twenty patients that NRI-DC's paper prints",
		Long: `Takes the twenty patients of the paper on non-readily identifiable Data
Collaboration (Imakura and others 2023, tables 1 to 3), compares their features
with what they share, row by row as the paper does and person by person, sorts
both, and counts who is found. Then the same with scrambled bases of its own, on
rows as they are, standardised, and whitened. Prints Markdown:

  concord-lab patients > docs/results/patients.md`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r, err := patients.Run(repeats, seed)
			if err != nil {
				return cli.Usagef("%v", err)
			}
			if asJSON {
				b, err := json.MarshalIndent(r, "", "  ")
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(stdout, "%s\n", b)
				return err
			}
			return printPatients(stdout, r, seed)
		},
	}
	cmd.Flags().IntVar(&repeats, "repeat", 1000, "draws of a scrambled basis for each scaling")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "what the draws follow from")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func printPatients(w io.Writer, r *patients.Result, seed uint64) error {
	fmt.Fprintf(w, `# NRI's twenty patients

Written by `+"`concord-lab patients --repeat %d --seed %d`"+`.

The paper states that features and shared columns correlate by less than 0.4. That is so
row by row of its tables, which have the persons in different orders. Matched by person,
weight stands in a shared column, and sorting by it puts people beside their rows.

| Party | Largest correlation, row by row | person by person | with | found by sorting | by chance |
|---|---:|---:|---|---:|---:|
`, r.Scaled[0].Repeats, seed)
	for _, p := range r.Published {
		fmt.Fprintf(w, "| %d | %.3f | %.4f | %s | %.0f %% | %.0f %% |\n", p.Party, p.ByPosition, p.ByPerson, p.Feature, 100*p.Collated, 100*p.Chance)
	}
	fmt.Fprint(w, `
Scrambled bases of our own (three principal components times a matrix of normal numbers)
on the same rows. What helps is the scaling before the projection, not the scrambling: a
feature that varies far more than the others survives any mixing. With ten persons and six
candidate columns, of which the best counts, a random order finds more than one in ten.

| Rows before the projection | Correlation of weight, person by person | found by sorting by it |
|---|---:|---:|
`)
	for _, s := range r.Scaled {
		fmt.Fprintf(w, "| %s | %.3f | %.0f %% |\n", s.Scaling, s.ByPerson, 100*s.Collated)
	}
	_, err := fmt.Fprint(w, "\n`concord review` measures the same on a site's own rows (collation), matched by person, and warns.\n")
	return err
}
