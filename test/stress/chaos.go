package stress

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/test/chaos"
)

// chaosOptions are the flags of concord-stress chaos.
type chaosOptions struct {
	kills, cuts, trainings, links, requests int

	protocol, programs, dir string
	seed                    uint64
	loopback, files, asJSON bool
}

func chaosCommand(stdout, stderr io.Writer) *cobra.Command {
	var opt chaosOptions
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "Play studies while programs are killed, disks lose power and lines break",
		Long: `Plays small studies, of dc, nri, with large contributions and with pooled figures in
turn, with the programs concord and concordd that lie beside this one, each command a
process, all on loopback, and

  --kills      kills processes with SIGKILL at random moments of a study
  --cuts       cuts the power of the disks that they write on, in the middle of some
               operation, and drops what was not flushed: all of it, or some sectors
               and names of it in any order. Linux, root, /dev/fuse
  --trainings  kills the server while it aligns and trains
  --links      plays over a line that delays, slows down, stalls, breaks and goes
               down, between two network namespaces. Linux, root, the program ip
  --requests   sends malformed requests of every kind to a serving concordd

With --files parties change between the network and files on a stick as it comes.

Commands that were interrupted are typed again, as a person would. After every hit,
and at the end, it checks what docs/guarantees.md promises, and stops at the first
study that breaks it; that study's folder is kept. The figures of the documentation
are of

  concord-stress chaos --kills 200 --cuts 200 --trainings 5 --links 6 --requests 10000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), stdout, stderr) },
	}
	flags := cmd.Flags()
	flags.IntVar(&opt.kills, "kills", 20, "processes to kill")
	flags.IntVar(&opt.cuts, "cuts", 20, "power cuts")
	flags.IntVar(&opt.trainings, "trainings", 2, "kills while a study is aligned and trained, for each protocol")
	flags.IntVar(&opt.links, "links", 1, "studies over a bad line")
	flags.IntVar(&opt.requests, "requests", 1000, "malformed requests")
	flags.StringVar(&opt.protocol, "protocol", "all",
		"dc, nri, large (dc with contributions of 5 MB, which go in parts), pool (dc with figures by masked sums) or all")
	flags.Uint64Var(&opt.seed, "seed", 1, "what is drawn; processes do not repeat themselves to the moment")
	flags.StringVar(&opt.programs, "programs", "", "folder of concord and concordd (default: that of this program)")
	flags.StringVar(&opt.dir, "out", "", "folder for the studies (default: a temporary one)")
	flags.BoolVar(&opt.loopback, "loopback", false, "bad lines on loopback instead of between network namespaces")
	flags.BoolVar(&opt.files, "files", false, "parties change between the network and files as it comes (docs/by-file.md)")
	flags.BoolVar(&opt.asJSON, "json", false, "print one JSON object")
	return cmd
}

func (o chaosOptions) run(ctx context.Context, stdout, stderr io.Writer) (err error) {
	if min(o.kills, o.cuts, o.trainings, o.links, o.requests) < 0 {
		return cli.Usagef("numbers of hits are at least 0")
	}
	opt := chaos.Options{Seed: o.seed, Dir: o.dir, Files: o.files, Say: sayTo(stderr)}
	switch o.protocol {
	case "dc", "nri", "large", "pool":
		opt.Protocols = []string{o.protocol}
	case "all":
	default:
		return cli.Usagef("--protocol is %q, must be dc, nri, large, pool or all", o.protocol)
	}
	if opt.Programs, err = programsIn(o.programs); err != nil {
		return err
	}
	if opt.Dir == "" {
		if opt.Dir, err = os.MkdirTemp("", "concord-chaos-"); err != nil {
			return err
		}
		defer func() {
			if err == nil {
				err = os.RemoveAll(opt.Dir)
			}
		}()
	}
	all := map[string]*chaos.Report{}
	for _, part := range []struct {
		name string
		n    int
		run  func(context.Context, chaos.Options) (*chaos.Report, error)
	}{
		{"kills", o.kills, chaos.Kills},
		{"cuts", o.cuts, chaos.Cuts},
		{"trainings", o.trainings, chaos.Trainings},
		{"links", o.links, func(ctx context.Context, opt chaos.Options) (*chaos.Report, error) {
			return chaos.Links(ctx, opt, !o.loopback)
		}},
	} {
		if part.n == 0 {
			continue
		}
		opt.N = part.n
		r, err := part.run(ctx, opt)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		all[part.name] = r
		if !o.asJSON {
			printChaos(stdout, part.name, r)
		}
	}
	var attack *chaos.Attack
	if o.requests > 0 {
		opt.N = o.requests
		if attack, err = chaos.Requests(ctx, opt); err != nil {
			return err
		}
		if !o.asJSON {
			printAttack(stdout, attack)
		}
	}
	if o.asJSON {
		return json.NewEncoder(stdout).Encode(struct {
			Plays    map[string]*chaos.Report `json:"plays"`
			Requests *chaos.Attack            `json:"requests,omitempty"`
		}{all, attack})
	}
	return nil
}

// printAttack prints what malformed requests did.
func printAttack(w io.Writer, a *chaos.Attack) {
	const mb = 1 << 20
	fmt.Fprintf(w, "requests:  %d malformed ones of %d kinds in %.0f s; the study around them completed\n", a.Requests, len(a.Of), a.Seconds)
	fmt.Fprintf(w, "           the server's memory: %.0f MB before, %.0f MB after, never more than %.0f MB\n", float64(a.Before)/mb, float64(a.After)/mb, float64(a.Most)/mb)
	fmt.Fprintf(w, "           its log: %d lines; kinds whose line the check knows are explained; no internal error\n", a.Log)
	fmt.Fprintf(w, "           the analyst's audit log: %s\n", a.Audit)
	if a.Silent {
		fmt.Fprintf(w, "           connections that fell silent in headers or body: all ended by the server\n")
	}
	fmt.Fprintf(w, "           kinds: %s\n", counted(a.Of))
	fmt.Fprintf(w, "           answers: %s\n", counted(a.Answers))
}

// printChaos prints a report for people.
func printChaos(w io.Writer, name string, r *chaos.Report) {
	fmt.Fprintf(w, "%-10s %d hits in %d studies, all of them completed, in %.0f s; %d commands typed again\n", name+":", r.Hits, r.Plays, r.Seconds, r.Repeated)
	fmt.Fprintf(w, "           lost of what was acknowledged: 0; doubled: 0; left over after a sweep: 0\n")
	fmt.Fprintf(w, "           results bit for bit what the contributions give: %d of %d; sites' models: %d of %d", r.Results, r.Of, r.Models, r.Of)
	if r.Models < r.Of {
		fmt.Fprintf(w, " (scores of the others differ by at most %.1g)", r.Farthest)
	}
	fmt.Fprintln(w)
	if len(r.Left) > 0 {
		fmt.Fprintf(w, "           of what was not flushed was left: %s\n", counted(r.Left))
	}
	fmt.Fprintf(w, "           hit: %s\n", counted(r.At))
}

// counted lists names with their counts, the most frequent first.
func counted(of map[string]int) string {
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		if of[a] != of[b] {
			return of[b] - of[a]
		}
		return strings.Compare(a, b)
	})
	var words []string
	for i, name := range names {
		if i == 24 {
			rest := 0
			for _, other := range names[i:] {
				rest += of[other]
			}
			words = append(words, fmt.Sprintf("others %d", rest))
			break
		}
		words = append(words, fmt.Sprintf("%s %d", name, of[name]))
	}
	return strings.Join(words, ", ")
}
