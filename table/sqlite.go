package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// openSQLite runs a query on a SQLite database, which is opened for reading alone.
func openSQLite(path, query string) (*sqlSource, *CellError) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, unreadable(err, 0)
	}
	dsn := (&url.URL{Scheme: "file", Path: absolute, RawQuery: "mode=ro&_pragma=query_only(1)&_pragma=trusted_schema(0)&_pragma=busy_timeout(10000)"}).String()
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, &CellError{Problem: "cannot be opened as a SQLite database", Ends: true}
	}
	s := &sqlSource{format: "SQLite", db: db, describe: describeSQLite}
	problem := s.openSQLite(query)
	if problem != nil {
		s.Close()
		return nil, problem
	}
	return s, nil
}

func (s *sqlSource) openSQLite(query string) *CellError {
	var err error
	if s.conn, err = s.db.Conn(context.Background()); err != nil {
		return s.failure(err)
	}
	for limit, most := range map[int]int{lib.SQLITE_LIMIT_LENGTH: maxSQLValue, lib.SQLITE_LIMIT_ATTACHED: 0} {
		if _, err := sqlite.Limit(s.conn, limit, most); err != nil {
			return s.failure(err)
		}
	}
	if strings.TrimSpace(query) == "" {
		return noQuery(s.sqliteTables())
	}
	if w := firstWord(query); w != "SELECT" && w != "WITH" && w != "VALUES" {
		return &CellError{Problem: "the query gives no rows: it is no SELECT", Hint: "write a query that begins with SELECT", Ends: true}
	}
	return s.query(query, func(t *sql.ColumnType) Column {
		// A SQLite column holds values of any kind, whatever its declared type.
		return Column{Name: t.Name(), Kind: Any, Type: strings.ToLower(t.DatabaseTypeName())}
	})
}

// sqliteTables are the names of the tables and views.
func (s *sqlSource) sqliteTables() []string {
	rows, err := s.conn.QueryContext(context.Background(), "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name LIMIT 21")
	if err != nil {
		return nil
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if rows.Scan(&name) != nil {
			return nil
		}
		names = append(names, name)
	}
	if rows.Err() != nil {
		return nil
	}
	return names
}

// aboutQuery begin SQLite's words about a query's text, made before any row is read. Others
// may hold a value: bad JSON path: '…'.
var aboutQuery = []string{"no such table: ", "no such column: ", "no such function: ", "no such index: ", "no such collation sequence: ", "near ", "unrecognized token: ",
	"incomplete input", "ambiguous column name: ", "wrong number of arguments to function ", "misuse of aggregate", "SELECTs to the left and right of "}

// describeSQLite uses SQLite's words only where they are about the query: those about
// values are its own.
func describeSQLite(err error) (problem, hint string) {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return "the database cannot be read", ""
	}
	switch code := e.Code() & 0xff; code {
	case lib.SQLITE_ERROR:
		text := strings.TrimSuffix(strings.TrimPrefix(e.Error(), "SQL logic error: "), fmt.Sprintf(" (%d)", code))
		if !slices.ContainsFunc(aboutQuery, func(begin string) bool { return strings.HasPrefix(text, begin) }) {
			return "the query fails on a value, or in a function", "try the query in sqlite3, which shows the value"
		}
		return "the query fails: " + text, "try the query in sqlite3"
	case lib.SQLITE_TOOBIG:
		return fmt.Sprintf("a cell has more than %d bytes", maxSQLValue), "leave the column out of the query"
	case lib.SQLITE_READONLY, lib.SQLITE_AUTH:
		return "the query would write; it may only read", "write a query that begins with SELECT"
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return "another program is writing to the database", "try again, or copy the database with sqlite3's .backup"
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return "the database is damaged", "copy it again; while another program has it open, copy it with sqlite3's .backup"
	default:
		return fmt.Sprintf("the database cannot be read (SQLite's code %d)", e.Code()), ""
	}
}
