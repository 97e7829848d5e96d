package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"concord/internal/chaos"
	"concord/internal/cli"
	"concord/wire"
)

// uploadFlags are the flags of concord-lab bench upload.
type uploadFlags struct {
	size     int64 // MiB
	programs string
	dir      string
	json     bool
}

func benchUploadCommand(stdout, stderr io.Writer) *cobra.Command {
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

// uploadRecord is what bench upload prints with --json.
type uploadRecord struct {
	Size           int64     `json:"size_bytes"`
	ApproveSeconds float64   `json:"approve_seconds"`
	SealSeconds    float64   `json:"seal_seconds"`
	UploadSeconds  float64   `json:"upload_seconds"`
	CheckSeconds   float64   `json:"check_seconds"`
	SendSeconds    float64   `json:"send_seconds"`
	CurlSeconds    float64   `json:"curl_seconds"`
	Ratio          float64   `json:"ratio"`
	RatioWithCheck float64   `json:"ratio_with_check"`
	PeakRSS        uploadRSS `json:"peak_rss_bytes"`
}

type uploadRSS struct {
	Approve int64 `json:"approve"`
	Seal    int64 `json:"seal"`
	Send    int64 `json:"send"`
	Server  int64 `json:"server"`
}

func (f *uploadFlags) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if f.programs == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		f.programs = filepath.Dir(self)
	}
	programs, err := chaos.In(f.programs)
	if err != nil {
		return wire.WithHint(err, "build all three (make build), or name their folder with --programs")
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp("", "concord-upload-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(f.dir)) }()
	}
	s := &uploadStudy{programs: programs, dir: f.dir, say: func(format string, args ...any) { fmt.Fprintf(stderr, format+"\n", args...) }}
	defer s.stopServer()
	r, err := s.measure(ctx, f.size<<20)
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

// measure plays the study up to the receipt.
func (s *uploadStudy) measure(ctx context.Context, size int64) (r uploadRecord, err error) {
	s.say("setting up a study of two parties in %s", s.dir)
	if err := s.setUp(ctx, size); err != nil {
		return r, err
	}
	s.say("drawing a contribution of %d MiB", size>>20)
	manifest, err := s.plant(size)
	if err != nil {
		return r, err
	}
	s.say("approving, sealing")
	approve, err := s.concord(ctx, 0, "approve", manifest[:16])
	if err != nil {
		return r, err
	}
	// Without a server send seals and then gives up.
	s.stopServer()
	sealed := filepath.Join(s.party(0), "outbox", "contribution.bundle")
	began := time.Now()
	seal, err := s.concord(ctx, 0, "send")
	if err == nil {
		return r, errors.New("concord send found a server where none is")
	}
	info, err := os.Stat(sealed)
	if err != nil {
		return r, fmt.Errorf("concord send sealed nothing: %s", seal.text)
	}
	// The file is renamed into its place when it is whole; its last change is before.
	r.SealSeconds = info.ModTime().Sub(began).Seconds()
	if err := s.startServer(); err != nil {
		return r, err
	}
	s.say("sending %d bytes with curl -T, with concord, with curl -T", info.Size())
	before, err := s.curl(ctx, sealed)
	if err != nil {
		return r, err
	}
	send, err := s.concord(ctx, 0, "send")
	if err != nil {
		return r, err
	}
	r.PeakRSS.Server = s.serverRSS()
	after, err := s.curl(ctx, sealed)
	if err != nil {
		return r, err
	}
	r.Size = info.Size()
	r.ApproveSeconds, r.SendSeconds, r.CurlSeconds = approve.took.Seconds(), send.took.Seconds(), min(before, after).Seconds()
	begun, arrived, stored, err := s.log.times()
	if err != nil {
		return r, err
	}
	r.UploadSeconds, r.CheckSeconds = arrived.Sub(begun).Seconds(), stored.Sub(arrived).Seconds()
	r.Ratio, r.RatioWithCheck = r.CurlSeconds/r.UploadSeconds, r.CurlSeconds/(r.UploadSeconds+r.CheckSeconds)
	r.PeakRSS.Approve, r.PeakRSS.Seal, r.PeakRSS.Send = approve.rss, seal.rss, send.rss
	return r, nil
}
