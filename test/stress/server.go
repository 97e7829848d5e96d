package stress

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/test/load"
)

func serverCommand(stdout io.Writer) *cobra.Command {
	var opt load.Options
	var size string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "server [--parties c] [--bytes SIZE]",
		Short: "Time a server with many parties at once",
		Long: `Starts the analyst's server on loopback in this process and lets all parties join,
confirm, send setup bundles, fetch each other's, and send contributions at once:
real TLS, real signatures, every answer durable on this machine's disk. What
parties compute for themselves is not in the measured time; connections,
handshakes and their side of TLS are, on the same cores.

A setup bundle is sealed to all other parties: with 200 of them each has 0.3 MB,
and each party fetches 199. --fetch bounds that.

--json prints one object: parties, contribution_bytes, setup_bytes, cores, failed,
p99, and phases, each with name, requests, failed, bytes, seconds, p50, p99, max.
Times of requests are in seconds, from call to answer.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			bytes, err := humanize.ParseBytes(size)
			if err != nil || bytes > 1<<30 {
				return cli.Usagef("--bytes is %q, must be a size up to 1 GiB, for example 1MB", size)
			}
			opt.Bytes = int64(bytes)
			if !asJSON {
				fmt.Fprintf(stdout, "%-12s %9s %7s %10s %9s %8s %8s %8s\n", "phase", "requests", "failed", "bytes", "seconds", "p50", "p99", "max")
				opt.Progress = func(p load.Phase) {
					fmt.Fprintf(stdout, "%-12s %9d %7d %10s %9.2f %8.3f %8.3f %8.3f\n", p.Name, p.Requests, p.Failed, humanize.Bytes(uint64(p.Bytes)), p.Seconds, p.P50, p.P99, p.Max)
				}
			}
			result, err := load.Run(cmd.Context(), opt)
			if err != nil {
				return err
			}
			if asJSON {
				return json.NewEncoder(stdout).Encode(result)
			}
			fmt.Fprintf(stdout, "%d parties with %s each on %d cores: %d requests failed, p99 of a request %.3f s\n",
				result.Parties, humanize.Bytes(uint64(result.ContributionBytes)), result.Cores, result.Failed, result.P99)
			return nil
		},
	}
	cmd.Flags().IntVar(&opt.Parties, "parties", 200, "parties at once")
	cmd.Flags().StringVar(&size, "bytes", "1MB", "size of a contribution")
	cmd.Flags().IntVar(&opt.Fetch, "fetch", 0, "how many setup bundles a party fetches (default: all others')")
	cmd.Flags().StringVar(&opt.Dir, "dir", "", "where the server keeps things (default: a temporary folder)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
