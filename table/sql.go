package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// maxSQLValue bounds a row of PostgreSQL and a cell of SQLite, in bytes: more is refused
// before room is made for it.
const maxSQLValue = 16 << 20

// sqlSource reads the rows of a query, as they come, inside a transaction that cannot
// write.
type sqlSource struct {
	chosen
	format  string
	db      *sql.DB
	conn    *sql.Conn
	tx      *sql.Tx
	result  *sql.Rows
	values  []any
	targets []any
	texts   []byte // of the row
	count   int
	// describe turns an error of the driver into words that hold neither credentials nor
	// cells.
	describe func(error) (problem, hint string)
}

// query runs a query on a source that has its connection. name says what a column of a
// type holds.
func (s *sqlSource) query(query string, name func(*sql.ColumnType) Column) *CellError {
	ctx := context.Background()
	var err error
	if s.tx, err = s.conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		return s.failure(err)
	}
	if s.result, err = s.tx.QueryContext(ctx, query); err != nil {
		return s.failure(err)
	}
	types, err := s.result.ColumnTypes()
	if err != nil {
		return s.failure(err)
	}
	for _, t := range types {
		s.add(name(t))
	}
	if len(s.columns) == 0 {
		return &CellError{Problem: "the query gives no rows: it is no SELECT", Hint: "write a query that begins with SELECT", Ends: true}
	}
	s.values, s.targets = make([]any, len(types)), make([]any, len(types))
	for i := range s.values {
		s.targets[i] = &s.values[i]
	}
	return nil
}

// Format names the database.
func (s *sqlSource) Format() string { return s.format }

// Close ends the transaction without a trace.
func (s *sqlSource) Close() error {
	if s.result != nil {
		s.result.Close()
	}
	if s.tx != nil {
		_ = s.tx.Rollback() // it could not have written
	}
	if s.conn != nil {
		s.conn.Close()
	}
	return s.db.Close()
}

// Next fetches the next row of the result.
func (s *sqlSource) Next(r *Record) error {
	if !s.result.Next() {
		// The end of the rows and the end of the connection look the same until here.
		if err := s.result.Err(); err != nil {
			return s.failure(err)
		}
		return io.EOF
	}
	if err := s.result.Scan(s.targets...); err != nil {
		return s.failure(err)
	}
	s.count++
	r.Row, r.Line = s.count, 0
	s.room(r)
	s.texts = s.texts[:0]
	for i, j := range s.wanted {
		r.Cells[i] = s.cell(s.values[j], s.columns[j].Kind)
	}
	return nil
}

// cell turns a value of a driver into a cell.
func (s *sqlSource) cell(value any, kind Kind) Cell {
	switch v := value.(type) {
	case nil:
		return Cell{}
	case int64:
		return WholeCell(v)
	case float64:
		return NumberCell(v)
	case bool:
		return TruthCell(v)
	case time.Time:
		return DayCell(dayOf(v.UTC()))
	case string:
		if kind == Number || kind == Whole { // decimals of any length
			return NumberCell(decimalOf(v))
		}
		from := len(s.texts)
		s.texts = append(s.texts, v...)
		return TextCell(s.texts[from:])
	case []byte:
		return TextCell(v)
	}
	return Cell{Kind: Other}
}

// decimalOf is the float64 nearest to a decimal, NaN for NaN, and infinite for what is
// none.
func decimalOf(s string) float64 {
	if x, ok := readNumber([]byte(s), false); ok {
		return x
	}
	if x, err := strconv.ParseFloat(s, 64); err == nil {
		return x
	}
	return math.Inf(1)
}

// failure describes an error of the database, with the row that was reached.
func (s *sqlSource) failure(err error) *CellError {
	problem, hint := s.describe(err)
	if s.result != nil {
		problem = fmt.Sprintf("reading ended after row %d: %s", s.count, problem)
	}
	return &CellError{Problem: problem, Hint: hint, Ends: true, cause: hidden{err}}
}

// hidden keeps an error for errors.Is alone, without its words: those of a database may
// hold cells.
type hidden struct{ err error }

// Error says only that it is one.
func (h hidden) Error() string { return "an error of the database" }

// Is compares the error that is hidden.
func (h hidden) Is(target error) bool { return errors.Is(h.err, target) }

// noQuery is the problem of a database without a query.
func noQuery(tables []string) *CellError {
	e := &CellError{Problem: "is a database, and no query says which rows are meant", Ends: true,
		Hint: "give one with --query 'SELECT …' or --query-file FILE"}
	if len(tables) > 0 {
		for i, name := range tables {
			tables[i] = shorten(strconv.Quote(name))
		}
		e.Hint += "; its tables are " + listNames(tables)
	}
	return e
}

// firstWord is the first word of a query in capitals, comments left out.
func firstWord(query string) string {
	for {
		query = strings.TrimSpace(query)
		switch {
		case strings.HasPrefix(query, "--"):
			_, query, _ = strings.Cut(query, "\n")
		case strings.HasPrefix(query, "/*"):
			_, query, _ = strings.Cut(query, "*/")
		default:
			word, _, _ := strings.Cut(strings.Map(func(r rune) rune {
				if r == '(' || r == '\t' || r == '\n' || r == '\r' {
					return ' '
				}
				return r
			}, query), " ")
			return strings.ToUpper(word)
		}
	}
}
