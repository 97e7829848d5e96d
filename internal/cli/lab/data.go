package lab

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"concord/lab/dataset"
)

func dataCommand(stdout io.Writer) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "data",
		Short: "The published data sets: which are there, and where they come from",
		Long: `Lists the data sets of the published experiments, with rows, columns, source and
licence, and whether their files are in --data. Sets that are simulated need no files;
what stands in for another says so.

  concord-lab data fetch NAME --data DIR

gets a set from its home, where it has one, and compares the SHA-256 of its files; for
the others it says what the files must be.

  concord-lab data tables DIR

makes the example of four hospitals' tables with different defects.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return listData(stdout, dir) },
	}
	cmd.PersistentFlags().StringVar(&dir, "data", ".", "folder of the data sets")
	cmd.AddCommand(&cobra.Command{
		Use:   "fetch NAME",
		Short: "Get a data set from its home",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client := &http.Client{Timeout: 10 * time.Minute}
			if err := dataset.Fetch(cmd.Context(), dir, args[0], client); err != nil {
				return err
			}
			_, err := fmt.Fprintf(stdout, "%s is in %s\n", args[0], dir)
			return err
		},
	})
	cmd.AddCommand(dataTablesCommand(stdout))
	return cmd
}

func listData(stdout io.Writer, dir string) error {
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\trows\tcolumns\there\tsource, licence")
	for _, info := range dataset.Published() {
		here := "yes"
		if len(info.Files) == 0 {
			here = "simulated"
		}
		for _, f := range info.Files {
			if _, err := os.Stat(filepath.Join(dir, f.Path)); errors.Is(err, fs.ErrNotExist) {
				here = "no"
			} else if err != nil {
				return err
			}
		}
		size := func(n int) string {
			if n == 0 {
				return "?"
			}
			return fmt.Sprint(n)
		}
		text := strings.TrimSpace(strings.Join([]string{info.Source, info.Licence}, "; "))
		if info.StandIn != "" {
			text += "; stands in: " + info.StandIn
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", info.Name, size(info.Rows), size(info.Cols), here, text)
	}
	return w.Flush()
}
