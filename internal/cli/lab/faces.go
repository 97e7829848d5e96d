package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/lab/dataset"
	"concord/lab/faces"
	"concord/wire"
)

func facesCommand(stdout io.Writer) *cobra.Command {
	var (
		opt  = faces.Options{}
		data string
		out  string
	)
	cmd := &cobra.Command{
		Use:   "faces --data DIR --out DIR",
		Short: "Faces, what of them leaves, and what collusion or noise makes of them",
		Long: `Draws the visual check of ODC2 (figures 2 and 5) on the Olivetti faces: six
pictures of one party, the l numbers of each that leave, what the secret basis keeps
(X F F⁺), what the analyst and one other party together reconstruct, for bases of a
common span and of the party's own, and pictures with Gaussian noise at ε = 0.5, 2 and
8 for a pixel, as they are and cleaned by somebody who has seen other faces.

A table says of each what it takes to see it, how much of the pictures it leaves
unexplained (1 − R²), and how often it leads to the right picture (linked).

Writes to DIR: faces.svg, the figure; faces.html, the page with it;
faces.md and faces.json, the table. The same --seed gives the same files, up to
rounding of the linear algebra. Takes a minute and 1 GB of memory.

--data names the folder of the data sets; concord-lab data says where the faces
(olivetti) come from.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, l := range opt.Dims {
				if l < 1 {
					return cli.Usagef("--dim %d: must be at least 1", l)
				}
			}
			switch {
			case opt.Parties < 2:
				return cli.Usagef("--parties is %d, must be at least 2: one is attacked, one colludes", opt.Parties)
			case opt.Rows < 0:
				return cli.Usagef("--rows is %d, must not be negative", opt.Rows)
			case out == "":
				return cli.Usagef("--out names no folder")
			}
			undo, err := folder(out)
			if err != nil {
				return err
			}
			defer undo() // of no effect once results are there
			d, err := dataset.Load(data, "olivetti")
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					err = wire.WithHint(err, "--data names the folder of the data sets; concord-lab data lists them")
				}
				return plain(err)
			}
			return drawFaces(cmd.Context(), stdout, d, opt, out)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&data, "data", ".", "folder of the data sets")
	flags.StringVar(&out, "out", "", "folder for the figure and the table")
	flags.Uint64Var(&opt.Seed, "seed", 1, "seed of all that is random")
	flags.IntVar(&opt.Parties, "parties", 4, "number of parties")
	flags.IntSliceVar(&opt.Dims, "dim", []int{20, 60, 200}, "numbers l that leave of each picture, with commas")
	flags.IntVar(&opt.Rows, "rows", 0, "pictures of each party (default: all, divided evenly)")
	_ = cmd.MarkFlagRequired("out") // fails only for a flag that is not there
	return cmd
}

// folder makes a folder for results, before anything is computed. undo removes what it
// made, unless something is in it.
func folder(out string) (undo func(), err error) {
	var made []string
	undo = func() {
		for _, dir := range made {
			os.Remove(dir)
		}
	}
	for dir := filepath.Clean(out); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() || dir == filepath.Dir(dir) {
			break
		}
		if _, there := os.Lstat(dir); there == nil { // a file, or a link to nothing
			return undo, wire.WithHint(fmt.Errorf("--out %s: %s is not a folder", out, dir), "name a folder; one that is not there is made")
		}
		made = append(made, dir)
	}
	if err = os.MkdirAll(out, 0o777); err == nil {
		// Whether it may be written to is better known now than after a minute.
		var f *os.File
		if f, err = os.CreateTemp(out, ".faces.partial-"); err == nil {
			err = errors.Join(f.Close(), os.Remove(f.Name()))
		}
	}
	if err != nil {
		undo()
		return undo, fmt.Errorf("--out %s: %w", out, err)
	}
	return undo, nil
}

// drawFaces computes everything for the pictures of d, writes it to the folder out and
// prints the table.
func drawFaces(ctx context.Context, stdout io.Writer, d *dataset.Data, opt faces.Options, out string) error {
	r, err := faces.Run(ctx, d, opt)
	if err != nil {
		err = interrupted(ctx, err, "nothing was written")
		return &renamed{strings.TrimPrefix(plain(err).Error(), "faces: "), err}
	}
	r.Command = facesCommandLine(r, opt.Rows)
	var paths []string
	for _, f := range []struct {
		ending string
		write  func(io.Writer) error
	}{
		{"svg", svg(r.Figure())}, {"html", r.HTML}, {"md", r.Markdown}, {"json", r.JSON},
	} {
		path := filepath.Join(out, "faces."+f.ending)
		if err := whole(path, f.write); err != nil {
			return fmt.Errorf("%s: not written: %w", path, err)
		}
		paths = append(paths, path)
	}
	t := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "row\t1 − R²\tlinked\twho sees it, and what it takes")
	for _, row := range r.Rows {
		left, linked := "-", "-"
		if g := row.Guess; g != nil {
			left, linked = fmt.Sprintf("%.3g", g.Unexplained), fmt.Sprintf("%.2f", g.Linked)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", row.Name, left, linked, row.Knows)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, note := range r.Notes {
		fmt.Fprintf(stdout, "note: %s\n", note)
	}
	_, err = fmt.Fprintf(stdout, "\nwrote %s\n", strings.Join(paths, " "))
	return err
}

// facesCommandLine is the command that makes r, without the names of folders.
func facesCommandLine(r *faces.Report, rows int) string {
	dims := make([]string, len(r.Asked))
	for i, l := range r.Asked {
		dims[i] = strconv.Itoa(l)
	}
	line := fmt.Sprintf("concord-lab faces --data DIR --out DIR --seed %d --parties %d --dim %s", r.Seed, r.Parties, strings.Join(dims, ","))
	if rows > 0 {
		line += fmt.Sprintf(" --rows %d", rows)
	}
	return line
}
