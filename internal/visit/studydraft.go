package visit

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"concord/table"
	"concord/table/draft"
	"concord/wire"
)

// Drafted is a first study.yaml of a file's shape.
type Drafted struct {
	Draft *draft.Draft
	// Path is for people: of a database its address without a password.
	Path    string
	Columns int
	// Bad rows could not be read; Where says where they are, and what is wrong with the first.
	Bad   int
	Where string
}

// DraftStudy reads a file once and drafts a first study.yaml from its shape. It needs no
// site's folder and connects to nobody.
func DraftStudy(path string, to table.Options, opt draft.Options) (Drafted, error) {
	var none Drafted
	src, err := table.OpenSource(path, to)
	if err != nil {
		return none, err
	}
	defer src.Close()
	path = table.PublicName(path) // from here on it is for people
	var names []string
	for _, column := range src.Columns() {
		names = append(names, column.Name)
	}
	d, err := draft.New(names, opt)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	var left leftAside
	if err := eachRecord(src, path, d.Add, &left); err != nil {
		return none, err
	}
	bad := left.n + int(d.Ragged())
	switch good := d.Rows() - d.Ragged(); {
	case good == 0 && bad > 0:
		return none, wire.WithHint(fmt.Errorf("%s: none of its %s can be divided into the header's %s", path,
			Counted(bad, "row"), Counted(len(names), "column")),
			"a decimal comma where commas separate, or a delimiter inside text, makes cells too many: let semicolons or "+
				"tabs separate, or put such cells in quotation marks")
	case good == 0:
		return none, wire.WithHint(fmt.Errorf("%s has a header and no rows", path),
			"a draft needs rows to tell what kind of values the columns hold")
	}
	return Drafted{Draft: d, Path: path, Columns: len(names), Bad: bad, Where: left.where()}, nil
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

// Counted is "1 thing" or "2 things".
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
