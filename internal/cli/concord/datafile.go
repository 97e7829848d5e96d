package concord

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"concord/internal/cli"
	"concord/table"
)

// dataFlags say how rows are read, where a file does not say it by itself.
type dataFlags struct {
	delimiter        string
	decimalComma     bool
	query, queryFile string
	columns          []string
	labels           string
}

// maxQuery bounds the file of a query.
const maxQuery = 1 << 20

// addDataFlags gives a command the flags.
func addDataFlags(cmd *cobra.Command) *dataFlags {
	f := new(dataFlags)
	cmd.Flags().StringVar(&f.delimiter, "delimiter", "",
		"what separates the columns of CSV text, such as ';' or tab; by default the header tells")
	cmd.Flags().BoolVar(&f.decimalComma, "decimal-comma", false, "numbers in CSV text have a decimal comma")
	cmd.Flags().StringVar(&f.query, "query", "",
		"the SELECT that gives the rows, where DATA is a SQLite file or postgres://HOST/DATABASE")
	cmd.Flags().StringVar(&f.queryFile, "query-file", "", "a file with the query")
	cmd.Flags().StringSliceVar(&f.columns, "columns", nil, "the names of the columns of a NumPy matrix, in order")
	cmd.Flags().StringVar(&f.labels, "labels", "", "the IDX file with the labels of IDX pictures")
	return f
}

// options are the flags as the table's readers take them.
func (f *dataFlags) options() (table.Options, error) {
	opt := table.Options{DecimalComma: f.decimalComma, Query: f.query, Names: f.columns, Labels: f.labels}
	if f.delimiter != "" {
		mark, err := table.ParseDelimiter(f.delimiter)
		if err != nil {
			return opt, &cli.UsageError{Err: err}
		}
		opt.Delimiter = mark
	}
	if f.queryFile == "" {
		return opt, nil
	}
	if f.query != "" {
		return opt, cli.Usagef("--query and --query-file are two queries; give one")
	}
	file, err := table.OpenFile(f.queryFile)
	if err != nil {
		return opt, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxQuery+1))
	if err != nil {
		return opt, err
	}
	if len(b) > maxQuery || strings.TrimSpace(string(b)) == "" {
		return opt, fmt.Errorf("%s is no query: it is empty or has more than %d bytes", f.queryFile, maxQuery)
	}
	opt.Query = strings.TrimPrefix(string(b), "\ufeff")
	return opt, nil
}

// withData runs a command whose argument names rows.
func withData(f *dataFlags, run func(path string, opt table.Options) error) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		opt, err := f.options()
		if err != nil {
			return err
		}
		return run(args[0], opt)
	}
}

// viewFlag says what --view is for.
const viewFlag = "which view of the features the file has, where the contract has views (default: the one with " +
	"which this site joined, else the one that its header fits)"
