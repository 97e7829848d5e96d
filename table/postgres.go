package table

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/stdlib"
)

// connectTimeout bounds the time until a server answers, unless the address or
// PGCONNECT_TIMEOUT says otherwise.
const connectTimeout = 30 * time.Second

// IsDatabase says whether path is the address of a database server, and no file.
func IsDatabase(path string) bool { return isPostgres(path) }

// isPostgres recognises the address of a PostgreSQL database.
func isPostgres(path string) bool {
	return strings.HasPrefix(path, "postgres://") || strings.HasPrefix(path, "postgresql://")
}

// PublicName is how a source is named in what people read and keep: a path as it is,
// and a database's address with host and name alone. What else the address says, user and
// password above all, is left out.
func PublicName(path string) string {
	if !isPostgres(path) {
		if likeAddress(path) {
			return "the address"
		}
		return path
	}
	config, err := pgx.ParseConfig(path)
	if err != nil {
		return "postgres://"
	}
	return postgresName(config)
}

// likeAddress recognises what people write for a database that is no file and that
// openPostgres does not take. A password may stand in it.
func likeAddress(path string) bool {
	return strings.Contains(path, "://") || strings.Contains(path, "password=")
}

// hintAddress says how an address is written.
const hintAddress = "write it as postgres://USER@HOST:PORT/DATABASE, special characters percent-encoded; the password belongs into ~/.pgpass or PGPASSWORD"

func postgresName(config *pgx.ConnConfig) string {
	if strings.HasPrefix(config.Host, "/") { // a folder of sockets
		return "postgres:///" + config.Database
	}
	return fmt.Sprintf("postgres://%s/%s", net.JoinHostPort(config.Host, fmt.Sprint(config.Port)), config.Database)
}

// openPostgres runs a query on a PostgreSQL database, in a transaction that cannot
// write. Address and environment are those of PostgreSQL's own programs.
func openPostgres(address, query string) (*sqlSource, *CellError) {
	config, err := pgx.ParseConfig(address)
	if err != nil { // its words may hold the password
		return nil, &CellError{Problem: "the database's address cannot be read",
			Hint: hintAddress, Ends: true}
	}
	if strings.TrimSpace(query) == "" {
		return nil, noQuery(nil)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	config.MaxProtocolMessageBodyLen = maxSQLValue
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["TimeZone"] = "UTC"
	config.RuntimeParams["application_name"] = "concord"
	s := &sqlSource{format: "PostgreSQL", db: stdlib.OpenDB(*config), describe: describePostgres}
	if s.conn, err = s.db.Conn(context.Background()); err != nil {
		problem := s.failure(err)
		s.Close()
		return nil, problem
	}
	if problem := s.query(query, postgresColumn); problem != nil {
		s.Close()
		return nil, problem
	}
	return s, nil
}

var postgresKinds = map[string]Kind{
	"BOOL": Truth, "INT2": Whole, "INT4": Whole, "INT8": Whole, "OID": Whole, "FLOAT4": Number, "FLOAT8": Number, "NUMERIC": Number,
	"DATE": Day, "TIMESTAMP": Day, "TIMESTAMPTZ": Day,
	"TEXT": Text, "VARCHAR": Text, "BPCHAR": Text, "NAME": Text, "UUID": Text, "UNKNOWN": Text, "": Text, // "" are types of the database's own, such as enumerations
}

func postgresColumn(t *sql.ColumnType) Column {
	word := t.DatabaseTypeName()
	kind, ok := postgresKinds[word]
	if !ok {
		if kind = Other; strings.Trim(word, "0123456789") == "" { // the number of a type that the driver does not know
			kind, word = Text, "user-defined"
		}
	}
	if word == "" {
		word = "user-defined"
	}
	return Column{Name: t.Name(), Kind: kind, Type: strings.ToLower(word)}
}

// severalCommands are the server's words about a query that is more than one.
const severalCommands = "cannot insert multiple commands into a prepared statement"

// describePostgres uses the server's words only where they are about the query, the
// database or the server. Those about values hold them (class 22, data exceptions), and
// others might.
func describePostgres(err error) (problem, hint string) {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch class := e.Code[:min(2, len(e.Code))]; {
		case class == "28":
			return "the server does not let this user in (SQLSTATE " + e.Code + ")", "user and password come from the address, PGUSER and PGPASSWORD, or ~/.pgpass"
		case e.Code == "25006":
			return "the query would write; it may only read", "write a query that begins with SELECT"
		case (class == "42" || class == "3F" || class == "0A") && e.Position == 0 && e.Code != "42501" && e.Message != severalCommands:
			// not about a place in the query: a value that was taken for a name, as by ::regclass
			return "the query fails on a value, or in a function (SQLSTATE " + e.Code + ")", "try the query in psql, which shows the value"
		case class == "42" || class == "3D" || class == "3F" || class == "0A":
			return fmt.Sprintf("the query fails: %s (SQLSTATE %s)", e.Message, e.Code), "try the query in psql"
		case class == "22" || class == "23":
			return "the query fails on a value (SQLSTATE " + e.Code + ")", "try the query in psql, which shows the value"
		case class == "57" || class == "53":
			return fmt.Sprintf("the server ends: %s (SQLSTATE %s)", e.Message, e.Code), "ask who keeps the database, then begin anew"
		}
		return "the database fails (SQLSTATE " + e.Code + ")", "try the query in psql"
	}
	var long *pgproto3.ExceededMaxBodyLenErr
	if errors.As(err, &long) {
		return fmt.Sprintf("a row has more than %d bytes", maxSQLValue), "leave out of the query the column that is so long"
	}
	var refused *pgconn.ConnectError
	if errors.As(err, &refused) {
		why := "it does not answer as a PostgreSQL server"
		var name *net.DNSError
		switch {
		case errors.As(err, &name):
			why = "its name is not known here"
		case errors.Is(err, syscall.ECONNREFUSED):
			why = "nothing listens there"
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded), pgconn.Timeout(err):
			why = "it does not answer"
		case strings.Contains(err.Error(), "tls") || strings.Contains(err.Error(), "x509"):
			why = "no secure connection comes about"
		}
		return "the server cannot be reached: " + why, "check host, port and sslmode with psql"
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, new(net.Error)) || pgconn.Timeout(err) {
		return "the connection to the database was lost", "begin anew: nothing was kept of these rows"
	}
	return "the database cannot be read", "try the query in psql"
}
