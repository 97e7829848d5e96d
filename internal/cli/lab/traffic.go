package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/internal/cli"
)

func trafficCommand(stdout io.Writer) *cobra.Command {
	var (
		t      contract.Traffic
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "traffic --parties c --rows n --anchor-rows a --features m --dim l --parameters N",
		Short: "How many bytes a collaboration sends, beside federated averaging",
		Long: `The communication model of ODC2 section II-C: what each party sends once, what it
gets back, and after how many rounds federated averaging of the same model has sent
as much. Labels, signatures and envelopes are not counted. The published total counts
the anchor once; a broadcast would send it to everybody, and Concord sends none: the
parties exchange sealed shares of a seed (setup). Where a study pools figures, --pooled
adds the masked sums that every party sends to every other.

Without flags it is the published example.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("bits") && t.Bits == 0 || cmd.Flags().Changed("participation") && t.Participation == 0 {
				return cli.Usagef("--bits is %d, --participation %v: both must be positive", t.Bits, t.Participation)
			}
			b, err := t.Bytes()
			if err != nil {
				return &cli.UsageError{Err: plain(err)}
			}
			if math.IsInf(b.Total+b.Concord+b.FedAvgRound+b.BreakEven+b.AnchorAll, 0) || math.IsNaN(b.BreakEven) {
				return cli.Usagef("the bytes overflow: take smaller numbers")
			}
			if asJSON {
				return json.NewEncoder(stdout).Encode(b)
			}
			w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
			for _, line := range []struct {
				what  string
				bytes float64
			}{
				{"a party sends", b.Up}, {"a party gets", b.Down}, {"anchor, counted once", b.AnchorOnce}, {"anchor, broadcast", b.AnchorAll},
				{"setup in Concord", b.Setup}, {"pooled figures in Concord", b.Pooling}, {"all, as published", b.Total}, {"all, in Concord", b.Concord}, {"a round of averaging", b.FedAvgRound},
			} {
				if line.bytes == 0 {
					continue // nothing is pooled
				}
				fmt.Fprintf(w, "%s\t%s\n", line.what, human(line.bytes))
			}
			fmt.Fprintf(w, "rounds of averaging for as much\t%.4g\n", b.BreakEven)
			return w.Flush()
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&t.Parties, "parties", 100, "parties c")
	flags.Float64Var(&t.Rows, "rows", 1000, "rows of a party, the mean of n_i")
	flags.Float64Var(&t.AnchorRows, "anchor-rows", 1000, "rows of the anchor, a")
	flags.IntVar(&t.Features, "features", 784, "features m")
	flags.IntVar(&t.Dim, "dim", 100, "columns that leave, l")
	flags.Float64Var(&t.Parameters, "parameters", 2.5e7, "numbers of the model, N")
	flags.IntVar(&t.Bits, "bits", 32, "bits of a number, q; Concord sends 64")
	flags.Float64Var(&t.Participation, "participation", 1, "share of the parties in a round of averaging, p")
	flags.Float64Var(&t.Pooled, "pooled", 0, "numbers that each party gives to masked sums: pool_up_bytes of a contract over 16")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// human writes bytes with a decimal unit.
func human(b float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if b >= u.size {
			return fmt.Sprintf("%.3g %s", b/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.0f B", b)
}
