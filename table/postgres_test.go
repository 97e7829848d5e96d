package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"concord/contract"
	"concord/table"
)

// startPostgres runs a PostgreSQL server of its own in a temporary folder and returns
// its address. Its one user is keeper with the password swordfish. PostgreSQL refuses
// to run as root, so that root becomes the Debian package's user.
func startPostgres(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		found = append(found, path)
	}
	if len(found) == 0 {
		t.Fatal("no PostgreSQL server is installed: make deps installs one")
	}
	slices.Sort(found)
	bin := filepath.Dir(found[len(found)-1])
	dir, err := os.MkdirTemp("", "concord-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(bin, name), args...)
		cmd.Dir = dir
		if os.Getuid() != 0 {
			return cmd
		}
		u, err := user.Lookup("postgres")
		if err != nil {
			t.Fatal(err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		asUser(cmd, uid, gid)
		return cmd
	}
	secret := filepath.Join(dir, "password")
	if err := os.WriteFile(secret, []byte("swordfish\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	if out, err := as("initdb", "-D", data, "-U", "keeper", "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	server := as("postgres", "-D", data, "-c", "listen_addresses=127.0.0.1", "-p", strconv.Itoa(port), "-k", dir, "-F")
	var log strings.Builder
	server.Stdout, server.Stderr = &log, &log
	diesWithUs(server)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		server.Wait()
	})
	address := fmt.Sprintf("postgres://keeper:swordfish@127.0.0.1:%d/postgres", port)
	for range 600 {
		c, err := pgx.Connect(context.Background(), address)
		if err == nil {
			c.Close(context.Background())
			return address
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("the server does not start:\n%s", log.String())
	return ""
}

const postgresRows = `
CREATE TYPE stages AS ENUM ('I', 'II', 'III');
CREATE TABLE rows (patient bigint, age numeric(8,2), ward varchar(9), smoker boolean, drinks char(6), stage stages, born date, seen timestamptz, outcome text, note text);
INSERT INTO rows VALUES
  (9007199254740993, 63.50, 'Süd', true, 'ja', 'I', '2000-01-01', '2020-01-03 23:59+00', 'yes', 'swordfish'),
  (9007199254740992, NULL, NULL, NULL, 'nein', 'II', '1999-12-31', NULL, 'no', '4711'),
  (9007199254740993, 0, ' 7', false, 'ja', 'III', '1996-02-29', '2020-01-01 01:00+02', 'no', '');
CREATE TABLE many AS SELECT i AS number, i * 0.25::float8 AS quarter, 'y' AS outcome FROM generate_series(1, 200000) AS i;
CREATE FUNCTION adds() RETURNS int LANGUAGE sql AS 'INSERT INTO many VALUES (0, 0, ''n'') RETURNING 1';
CREATE ROLE stranger LOGIN PASSWORD 'swordfish';`

func TestPostgres(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a PostgreSQL server")
	}
	address := startPostgres(t)
	ctx := context.Background()
	db, err := pgx.Connect(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	if _, err := db.Exec(ctx, postgresRows); err != nil {
		t.Fatal(err)
	}
	const columns = "SELECT patient, age, ward, smoker, drinks, stage, born, seen, outcome"
	sameAsTyped(t, address, table.Options{Query: columns + " FROM rows ORDER BY born DESC"}, "PostgreSQL")
	sameAsTyped(t, strings.Replace(address, "postgres://", "postgresql://", 1)+"?sslmode=disable", table.Options{Query: "TABLE rows", AllowExtra: true}, "PostgreSQL")

	for _, test := range []struct{ query, want, hint string }{
		{"", "FILE: is a database, and no query says which rows are meant", "give one with --query 'SELECT …' or --query-file FILE"},
		{"SELECT patient FROM absent", `FILE: the query fails: relation "absent" does not exist (SQLSTATE 42P01)`, "try the query in psql"},
		{"SELEC 1", `FILE: the query fails: syntax error at or near "SELEC" (SQLSTATE 42601)`, "try the query in psql"},
		{columns + " FROM rows; SELECT 1", `FILE: the query fails: cannot insert multiple commands into a prepared statement (SQLSTATE 42601)`, "try the query in psql"},
		{"DELETE FROM rows RETURNING *", "FILE: the query would write; it may only read", "write a query that begins with SELECT"},
		{"SELECT adds()", "FILE: the query would write; it may only read", "write a query that begins with SELECT"},
		{"CREATE TABLE x (y int)", "FILE: the query would write; it may only read", "write a query that begins with SELECT"},
		{"SET TRANSACTION READ WRITE", "FILE: the query gives no rows: it is no SELECT", "write a query that begins with SELECT"},
		{columns + " FROM rows WHERE false", "FILE: has a header and no rows", hintNoRows},
		// PostgreSQL's own words show the cell.
		{"SELECT note::int AS patient FROM rows WHERE note <> ''", "FILE: the query fails on a value (SQLSTATE 22P02)", "try the query in psql, which shows the value"},
		{"SELECT ('a' || patient)::regclass FROM rows", "FILE: the query fails on a value, or in a function (SQLSTATE 42P01)", "try the query in psql, which shows the value"},
		{"SELECT to_tsquery(patient || ' & & x') FROM rows", "FILE: the query fails on a value, or in a function (SQLSTATE 42601)", "try the query in psql, which shows the value"},
		{"SELECT * FROM absent", `FILE: the query fails: relation "absent" does not exist (SQLSTATE 42P01)`, "try the query in psql"},
		{columns + ", note FROM rows", `FILE: column 10: the column "note" is not in the contract`, "remove the column; if it ought to be used, ask the analyst for a contract that has it"},
		{"SELECT patient, note AS age, 1 AS ward, smoker, 1.5 AS drinks, ARRAY[1] AS stage, 17 AS born, interval '1 day' AS seen, outcome FROM rows",
			`FILE: column 2 (age): the column is of type text, and the contract wants numbers
FILE: column 5 (drinks): the column is of type numeric, and the contract wants truth values
FILE: column 6 (stage): the column is of type _int4, and the contract wants a level: I, II, III
FILE: column 7 (born): the column is of type int4, and the contract wants dates
FILE: column 8 (seen): the column is of type interval, and the contract wants dates`,
			"write the column as numbers: text is not converted; no level of the contract is spelled as such values are: write the column as text, spelled as in the contract; " +
				"turn the column into numbers, text, truth values or dates before; write the column as dates, or as text in the contract's layout"},
		{"SELECT patient, 'NaN'::numeric AS age, ward, smoker, drinks, stage, born, 'infinity'::date AS seen, note AS outcome FROM rows WHERE smoker",
			"FILE: row 1, column 8 (seen): the value is not a date as the contract wants it, YYYY-MM-DD\nFILE: row 1, column 9 (outcome): the label is none of the contract's classes: no, yes", ""},
		{"SELECT repeat('x', 20000000) AS patient, age, ward, smoker, drinks, stage, born, seen, outcome FROM rows", "FILE: a row has more than 16777216 bytes",
			"leave out of the query the column that is so long"},
	} {
		t.Run(test.query, func(t *testing.T) {
			used := peakHeap(t, func() { refused(t, address, typedContract(), table.Options{Query: test.query}, test.want, test.hint) })
			if used > 64<<20 {
				t.Errorf("%d bytes of heap were taken", used)
			}
		})
	}
	var n int
	if err := db.QueryRow(ctx, "SELECT (SELECT count(*) FROM rows) + (SELECT count(*) FROM many)").Scan(&n); err != nil || n != 200_003 {
		t.Errorf("%d rows are left: %v", n, err)
	}

	t.Run("addresses", func(t *testing.T) { postgresAddresses(t, address) })
	t.Run("many rows", func(t *testing.T) { postgresMany(t, address) })
	t.Run("lost connection", func(t *testing.T) { postgresLost(t, address) })
}

// postgresAddresses: what is said of an address that does not work holds neither user
// nor password.
func postgresAddresses(t *testing.T, address string) {
	host := strings.TrimSuffix(strings.TrimPrefix(address, "postgres://keeper:swordfish@"), "/postgres")
	const login = "user and password come from the address, PGUSER and PGPASSWORD, or ~/.pgpass"
	// Port 1 was tcpmux's; nothing listens there any more, and nothing but root could.
	const closed = "127.0.0.1:1"
	const check = "check host, port and sslmode with psql"
	for _, test := range []struct{ address, want, hint string }{
		{"postgres://keeper:swordfish2@" + host + "/postgres", "FILE: the server does not let this user in (SQLSTATE 28P01)", login},
		{"postgres://nobody:swordfish@" + host + "/postgres", "FILE: the server does not let this user in (SQLSTATE 28P01)", login},
		{"postgres://keeper:swordfish@" + host + "/absent", `FILE: the query fails: database "absent" does not exist (SQLSTATE 3D000)`, "try the query in psql"},
		{"postgres://stranger:swordfish@" + host + "/postgres", "FILE: the query fails: permission denied for table rows (SQLSTATE 42501)", "try the query in psql"},
		{"postgres://keeper:swordfish@" + closed + "/postgres", "FILE: the server cannot be reached: nothing listens there", check},
		{"postgres://keeper:swordfish@" + host + "/postgres?sslmode=require", "FILE: the server cannot be reached: no secure connection comes about", check},
		{"postgres://keeper:sword fish%zz@" + host + "/postgres", "FILE: the database's address cannot be read",
			"write it as postgres://USER@HOST:PORT/DATABASE, special characters percent-encoded; the password belongs into ~/.pgpass or PGPASSWORD"},
	} {
		t.Run(test.address, func(t *testing.T) {
			refused(t, test.address, typedContract(), table.Options{Query: "SELECT * FROM rows"}, test.want, test.hint)
			if name := table.PublicName(test.address); strings.Contains(name, "sword") || strings.Contains(name, "keeper") {
				t.Errorf("the name is %s", name)
			}
		})
	}
	t.Setenv("PGPASSWORD", "swordfish")
	if _, err := table.Open("postgres://keeper@"+host+"/postgres", typedContract(), table.Options{Query: "SELECT * FROM rows", AllowExtra: true}); err != nil {
		t.Errorf("with PGPASSWORD: %v", err)
	}
}

func manyContract() *contract.Contract {
	return &contract.Contract{
		Features:    []contract.Feature{{Name: "number", Type: contract.Numeric}, {Name: "quarter", Type: contract.Numeric}},
		Label:       contract.Label{Name: "outcome", Type: "class", Levels: []string{"n", "y"}},
		Standardise: "none", MaxRows: 1_000_000,
	}
}

// postgresMany: rows are not collected before they are visited.
func postgresMany(t *testing.T, address string) {
	sum := 0.0
	used := peakHeap(t, func() {
		got, err := table.Scan(address, manyContract(), table.Options{Query: "SELECT * FROM many"}, func(r *table.Row) error { sum += r.X[1]; return nil })
		if err != nil || got.Rows != 200_000 {
			t.Errorf("%v, %+v", err, got)
		}
	})
	if sum != 0.25*200_000*200_001/2 {
		t.Errorf("the sum is %g", sum)
	}
	if used > 8<<20 {
		t.Errorf("%d bytes of heap were taken", used)
	}
}

// postgresLost: a connection that ends in the middle is an error with the row that was
// reached, whether it is cut, reset or ended by the server; never the end of the rows.
func postgresLost(t *testing.T, address string) {
	host := strings.TrimSuffix(strings.TrimPrefix(address, "postgres://keeper:swordfish@"), "/postgres")
	for _, how := range []string{"closed", "reset"} {
		for _, after := range []int64{40_000, 1_000_000, 3_000_000} {
			through := cuttingProxy(t, host, after, how == "reset")
			n := 0
			_, err := table.Scan("postgres://keeper:swordfish@"+through+"/postgres?sslmode=disable", manyContract(), table.Options{Query: "SELECT * FROM many"}, func(*table.Row) error { n++; return nil })
			lost(t, fmt.Sprint(how, " after ", after), err, n, "the connection to the database was lost", "begin anew: nothing was kept of these rows")
			got, err := table.Open("postgres://keeper:swordfish@"+cuttingProxy(t, host, after, how == "reset")+"/postgres?sslmode=disable", manyContract(), table.Options{Query: "SELECT * FROM many"})
			if err == nil || got != nil {
				t.Errorf("%s after %d bytes: Open gives a table, error %v", how, after, err)
			}
		}
	}
	// The server ends the connection while it sends.
	db, err := pgx.Connect(context.Background(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(context.Background())
	n := 0
	_, err = table.Scan(address, manyContract(), table.Options{Query: "SELECT a.* FROM many a, generate_series(1, 1000)", MaxRows: 1 << 30}, func(*table.Row) error {
		if n++; n == 1000 {
			_, err := db.Exec(context.Background(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'concord'")
			return err
		}
		return nil
	})
	lost(t, "ended by the server", err, n, "", "")
}

// lost checks the error of a lost connection after n rows were visited.
func lost(t *testing.T, name string, err error, n int, problem, hint string) {
	t.Helper()
	var errs *table.Errors
	if !errors.As(err, &errs) || len(errs.Problems) != 1 {
		t.Errorf("%s: error %v after %d rows", name, err, n)
		return
	}
	reached, text, ok := strings.Cut(strings.TrimPrefix(errs.Problems[0].Problem, "reading ended after row "), ": ")
	row, _ := strconv.Atoi(reached)
	if !ok || row < n || row >= 200_000_000 || n == 0 && row == 0 {
		t.Errorf("%s: %d rows were visited, and the error is %v", name, n, err)
	}
	if problem != "" && (text != problem || errs.Hint() != hint) {
		t.Errorf("%s: %q, hint %q", name, text, errs.Hint())
	}
	if strings.Contains(err.Error(), "swordfish") || strings.Contains(err.Error(), "keeper") {
		t.Errorf("%s: the error shows credentials: %v", name, err)
	}
}

// cuttingProxy passes connections on to a host and ends each when the given number of
// bytes came back.
func cuttingProxy(t *testing.T, host string, after int64, reset bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", host)
			if err != nil {
				near.Close()
				return
			}
			go io.Copy(far, near)
			go func() {
				io.CopyN(near, far, after)
				if reset {
					near.(*net.TCPConn).SetLinger(0)
				}
				near.Close()
				far.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// What people write for a database that is not read is in no message: a password may
// stand in it.
func TestOtherAddresses(t *testing.T) {
	for _, address := range []string{
		"Postgres://keeper:swordfish@127.0.0.1/rows", "mysql://keeper:swordfish@127.0.0.1/rows", "host=127.0.0.1 user=keeper password=swordfish",
	} {
		_, err := table.OpenSource(address, table.Options{Query: "SELECT 1"})
		if err == nil || strings.Contains(err.Error(), "sword") || strings.Contains(err.Error(), "keeper") || !strings.Contains(err.Error(), "is no file") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if name := table.PublicName("rows/patients.csv"); name != "rows/patients.csv" {
		t.Errorf("a file is named %s", name)
	}
}
