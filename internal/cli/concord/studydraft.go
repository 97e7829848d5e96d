package concord

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"concord/table"
	"concord/table/draft"
	"concord/wire"
)

// studyCommand holds what is done before there is a study.
func (p *program) studyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "study",
		Short: "Before there is a study",
	}
	cmd.AddCommand(p.studyDraftCommand())
	return cmd
}

func (p *program) studyDraftCommand() *cobra.Command {
	var opt draft.Options
	cmd := &cobra.Command{
		Use:   "draft DATA",
		Short: "Write a first study.yaml from a file's shape, without its values",
		Long: `Reads the file once and prints a first study.yaml: which columns there are and what
kind of values they hold. It needs no site's folder and connects to nobody.

No value of the file is written. Ranges, units and levels are left as FILL IN, and
concordd takes no contract in which that still stands: the people of the sites agree on
them. Only what is known without the file is spelled out, such as 0 and 1, yes and no,
and the usual marks of missing values. --levels writes the levels of categories and the
classes of the label, which are values: look at them before you pass the file on.

  concord study draft patients.csv --label outcome --subject patient_id > study.yaml`,
		Args: cobra.ExactArgs(1),
	}
	data := addDataFlags(cmd)
	cmd.Flags().StringVar(&opt.Label, "label", "", "the column that is to be predicted")
	cmd.Flags().StringVar(&opt.Subject, "subject", "", "the column that says whose row it is")
	cmd.Flags().BoolVar(&opt.Levels, "levels", false, "write the levels of categories, which are values of the file")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		to, err := data.options()
		if err != nil {
			return err
		}
		opt.DecimalComma = to.DecimalComma
		return p.studyDraft(args[0], to, opt)
	}
	return cmd
}

func (p *program) studyDraft(path string, to table.Options, opt draft.Options) error {
	src, err := table.OpenSource(path, to)
	if err != nil {
		return err
	}
	defer src.Close()
	path = table.PublicName(path) // from here on it is for people
	var names []string
	for _, column := range src.Columns() {
		names = append(names, column.Name)
	}
	d, err := draft.New(names, opt)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var left leftAside
	if err := eachRecord(src, path, d.Add, &left); err != nil {
		return err
	}
	bad := left.n + int(d.Ragged())
	switch good := d.Rows() - d.Ragged(); {
	case good == 0 && bad > 0:
		return wire.WithHint(fmt.Errorf("%s: none of its %s can be divided into the header's %s", path, counted(bad, "row"), counted(len(names), "column")),
			"a decimal comma where commas separate, or a delimiter inside text, makes cells too many: let semicolons or tabs separate, or put such cells in quotation marks")
	case good == 0:
		return wire.WithHint(fmt.Errorf("%s has a header and no rows", path), "a draft needs rows to tell what kind of values the columns hold")
	}
	if err := d.YAML(p.out); err != nil {
		return err
	}
	fmt.Fprintf(p.err, "concord: read %d rows and %d columns of %s; no value of it was written%s\n", d.Rows(), len(names), path,
		map[bool]string{true: " but the levels that --levels asked for"}[opt.Levels])
	if bad > 0 {
		fmt.Fprintf(p.err, "concord: %s of it could not be read and %s left aside%s\n", counted(bad, "row"), map[bool]string{true: "was", false: "were"}[bad == 1], left.where())
	}
	return nil
}

// leftAside are rows that could not be read.
type leftAside struct {
	n      int
	places []int // of the first of them
	first  *table.CellError
}

func (l *leftAside) add(e *table.CellError) {
	if l.n++; l.n == 1 {
		l.first = e
	}
	if len(l.places) < 5 {
		l.places = append(l.places, max(e.Line, e.Row))
	}
}

// where says where they are, and what is wrong with the first.
func (l *leftAside) where() string {
	if l.n == 0 {
		return ""
	}
	word := "line"
	if l.first.Line == 0 {
		word = "row"
	}
	return fmt.Sprintf(" (%s: %s)", table.Places(word, l.places, l.n), l.first.Problem)
}

// eachRecord hands the cells of every row, as text, to add. Rows that cannot be read are
// put into left; path is for errors.
func eachRecord(src table.Source, path string, add func([][]byte), left *leftAside) error {
	var r table.Record
	var cells [][]byte
	var spelled []byte
	for {
		err := src.Next(&r)
		var problem *table.CellError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &problem) && !problem.Ends:
			left.add(problem)
			continue
		case problem != nil:
			problem.File = path
			return problem
		case err != nil:
			return err
		}
		cells, spelled = cells[:0], spelled[:0]
		var ends []int
		for _, c := range r.Cells {
			if c.Kind != table.Text {
				spelled = spell(spelled, c)
			}
			ends = append(ends, len(spelled))
		}
		from := 0
		for i, c := range r.Cells {
			if c.Kind == table.Text {
				cells = append(cells, c.Text())
			} else {
				cells = append(cells, spelled[from:ends[i]])
			}
			from = ends[i]
		}
		add(cells)
	}
}

// spell appends how a cell that is no text is written; nothing for one without a value.
func spell(to []byte, c table.Cell) []byte {
	switch c.Kind {
	case table.Whole:
		return strconv.AppendInt(to, c.Int(), 10)
	case table.Truth:
		return strconv.AppendBool(to, c.Int() != 0)
	case table.Number:
		return strconv.AppendFloat(to, c.Float(), 'g', -1, 64)
	case table.Day:
		return time.Unix(c.Int()*24*60*60, 0).UTC().AppendFormat(to, time.DateOnly)
	}
	return to
}
