package stress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/test/upload"
)

// uploadFlags are the flags of concord-stress upload.
type uploadFlags struct {
	size     int64 // MiB
	programs string
	dir      string
	json     bool
}

func uploadCommand(stdout, stderr io.Writer) *cobra.Command {
	var f uploadFlags
	cmd := &cobra.Command{
		Use:   "upload [--size MIB]",
		Short: "Time and memory of sending one large contribution, beside curl -T",
		Long: `Sets up a study of two parties with the real programs, each a process of its own, and
lets one of them approve, seal and send a contribution of --size MiB over TLS on
loopback to concordd serve, which checks all of it. prepare is not measured: it
holds a site's rows in memory by nature; what it would have written is drawn at
random in its place.

Beside it, in the same run, curl -T sends the same sealed file in clear to a plain
file server in Go, which copies the body to a file, flushes it (fsync) and answers:
once before and once after, of which the faster one counts.

The upload is from the server's first word of it to all bytes being hashed and flushed
there, by the times in its log; the check that follows, in which the bundle is
unsealed and compared with the contract, ends with the bundle stored. The whole of
concord send, the bundle sealed before, has its own line: it also verifies the sealed
file before anything leaves. peak_rss_bytes are the largest resident sets of the
processes, from /proc (0 elsewhere).

--json prints one object: size_bytes, approve_seconds, seal_seconds, upload_seconds,
check_seconds, send_seconds, curl_seconds, ratio (curl_seconds to upload_seconds),
ratio_with_check, peak_rss_bytes {approve, seal, send, server}. curl must be in the
path.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.size < 8 || f.size > 60<<10 {
				return cli.Usagef("--size is %d, must be 8 to %d MiB", f.size, 60<<10)
			}
			return f.run(cmd.Context(), stdout, stderr)
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.size, "size", 256, "MiB of X in the contribution")
	flags.StringVar(&f.programs, "programs", "", "folder of concord and concordd (default: that of this program)")
	flags.StringVar(&f.dir, "dir", "", "folder for all that is written, four times the size (default: a temporary one)")
	flags.BoolVar(&f.json, "json", false, "print one JSON object")
	return cmd
}

func (f *uploadFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	programs, err := programsIn(f.programs)
	if err != nil {
		return err
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "concord-upload-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.dir)) }()
	}
	r, err := upload.Run(ctx, upload.Options{Programs: programs, Size: f.size << 20, Dir: f.dir, Say: sayTo(stderr)})
	if err != nil {
		return err
	}
	if f.json {
		return json.NewEncoder(stdout).Encode(r)
	}
	mb := float64(r.Size) / 1e6
	_, err = fmt.Fprintf(stdout, `contribution of %.0f MB
approve        %7.2f s              peak memory %4d MiB
seal           %7.2f s              peak memory %4d MiB
upload         %7.2f s  %7.1f MB/s  hashed and flushed
check          %7.2f s              unsealed and compared with the contract
concord send   %7.2f s              peak memory %4d MiB, of the server %d MiB
curl -T        %7.2f s  %7.1f MB/s  in clear, to a plain file server that flushes
ratio          %7.2f    with the check %.2f
`, mb, r.ApproveSeconds, r.PeakRSS.Approve>>20, r.SealSeconds, r.PeakRSS.Seal>>20, r.UploadSeconds, mb/r.UploadSeconds,
		r.CheckSeconds, r.SendSeconds, r.PeakRSS.Send>>20, r.PeakRSS.Server>>20, r.CurlSeconds, mb/r.CurlSeconds, r.Ratio, r.RatioWithCheck)
	return err
}
