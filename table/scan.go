package table

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/maphash"
	"io"
	"math"
	"unicode/utf8"

	"concord/contract"
)

// Row is one row as the contract reads it. It is good until visit returns.
type Row struct {
	// Number counts the rows from 1. Line is the physical line on which the row begins,
	// or Number where the source has no lines.
	Number, Line int
	// X holds the features in the contract's order: numbers, the index of a level from 0,
	// 0 or 1 for truth values, days or years for dates; NaN where the value is missing.
	X []float64
	// Class is the index of the label's level, or -1; Value is the label where it is a
	// number, or NaN.
	Class int
	Value float64
	// Subject is a number from 0 that rows of one subject share, or -1 where there is none.
	Subject int
	// Faults says under Options.Survey what is wrong with the cells: of the features, the
	// label and the subject, p + 2 of them; or it is nil where nothing is.
	Faults []Fault
}

// Summary says what was read.
type Summary struct {
	// Rows are those that were visited; BadRows were there and could not be divided into
	// cells.
	Rows, BadRows int
	// People is how many subjects there are, or Rows where the contract names none.
	People int
	// Format is that of the source, for people.
	Format string
	// Columns has for each feature its column in the source, from 1.
	Columns []int
	// Missing and Outside count for each feature the values that were missing, whatever
	// the contract says about them, and those outside its range.
	Missing, Outside []int
	// Faults counts what is wrong with features, label and subject (p + 2), by kind. Only
	// Options.Survey lets there be any.
	Faults [][Faults]int
	// Problems are the first MaxProblems under Options.Survey, in their order.
	Problems []*CellError
	// Digest is the SHA-256 of the rows' numbers, labels and subjects in their order, where
	// Options.Digest asks for it: who reads the same rows again gets the same.
	Digest [sha256.Size]byte
	// Labelled says whether the label was read.
	Labelled bool
}

// Scan reads the rows of a file or a database, as [Open] does, and hands them to visit
// one after the other without keeping them, in memory that does not grow with their
// number (but for 40 bytes a subject, where the contract names one). Reading and
// checking run beside visit, which is called by the caller's goroutine.
//
// What is wrong is an *Errors, as for Open; rows before it may have been visited. An
// error of visit ends reading and is returned as it is.
func Scan(path string, c *contract.Contract, opt Options, visit func(*Row) error) (*Summary, error) {
	src, p, err := open(path, c, opt)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return scan(src, c, opt, p, visit)
}

// ScanCSV is Scan for the text of a CSV file, which need not be a file; name is for
// errors.
func ScanCSV(r io.Reader, name string, c *contract.Contract, opt Options, visit func(*Row) error) (*Summary, error) {
	p := &problems{file: name}
	src, problem := openCSV(r, opt.Delimiter, wantedNames(c), columns(c))
	if problem != nil {
		p.add(*problem)
		return nil, p.err(problem.more)
	}
	return scan(src, c, opt, p, visit)
}

// batchNumbers is how many numbers of rows are handed over at a time.
const batchNumbers = 16 << 10

// batch is some rows.
type batch struct {
	n       int
	x       []float64 // n × p
	rows    []Row
	faults  []Fault
	at      []int // of each row its place in faults, or -1
	problem error
}

// scanner reads the rows of a source as a contract describes them.
type scanner struct {
	src      Source
	contract *contract.Contract
	opt      Options
	*problems

	at       layout
	features []typed
	label    typed
	missing  *marks
	summary  *Summary
	record   Record
	cells    []int // of each feature, the label and the subject the cell of a record, or -1
	blank    int   // rows whose optional label is empty
	mixed    bool  // text beyond ASCII was seen that is UTF-8
	people   map[[2]uint64]int
	seeds    [2]maphash.Seed
	spelled  []byte
}

func scan(src Source, c *contract.Contract, opt Options, p *problems, visit func(*Row) error) (*Summary, error) {
	s := &scanner{src: src, contract: c, opt: opt, problems: p}
	if opt.MaxRows <= 0 {
		s.opt.MaxRows = c.MaxRows
	}
	if err := s.header(); err != nil {
		return nil, err
	}
	full, empty, done := make(chan *batch, 2), make(chan *batch, 3), make(chan struct{})
	for range cap(empty) {
		empty <- s.newBatch()
	}
	go func() {
		defer close(full)
		for {
			var b *batch
			select {
			case b = <-empty:
				s.fill(b)
			case <-done:
				return
			}
			select {
			case full <- b:
			case <-done:
				return
			}
			if b.problem != nil {
				return
			}
		}
	}()
	var err error
	defer func() { // the reader is at rest when Scan returns, even if visit panics
		close(done)
		for range full {
		}
	}()
	digest := sha256.New()
	for b := range full {
		for i := 0; i < b.n && err == nil; i++ {
			if opt.Digest {
				b.rows[i].hash(digest)
			}
			err = visit(&b.rows[i])
		}
		if err != nil {
			return nil, err
		}
		if b.problem != nil {
			err = b.problem
			break
		}
		empty <- b
	}
	if err != io.EOF {
		return nil, err
	}
	if opt.Digest {
		digest.Sum(s.summary.Digest[:0])
	}
	return s.summary, nil
}

// hash adds the row to a digest.
func (r *Row) hash(to hash.Hash) {
	var b [8]byte
	for _, x := range append(r.X[:len(r.X):len(r.X)], float64(r.Class), r.Value, float64(r.Subject)) {
		if x != x {
			x = math.NaN() // of one kind
		}
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(x))
		to.Write(b[:])
	}
}

// header finds the columns.
func (s *scanner) header() error {
	c, names := s.contract, s.src.Columns()
	line := 0
	if _, ok := s.src.(*csvSource); ok {
		line = 1
	}
	s.at = readHeader(names, line, c, s.opt, s.problems)
	if err := s.err(s.full()); err != nil {
		return err
	}
	s.missing = newMarks(c.MissingValues)
	var picked []int
	pick := func(field int) int {
		if field < 0 {
			return -1
		}
		picked = append(picked, field)
		return len(picked) - 1
	}
	p := len(c.Features)
	s.summary = &Summary{Format: s.src.Format(), Missing: make([]int, p), Outside: make([]int, p), Faults: make([][Faults]int, p+2)}
	for j := range c.Features {
		s.features = append(s.features, newTyped(c, &c.Features[j], s.missing, s.opt))
		s.cells = append(s.cells, pick(s.at.features[j]))
		s.summary.Columns = append(s.summary.Columns, s.at.features[j]+1)
	}
	s.label = newLabel(c, s.missing, s.opt)
	s.cells = append(s.cells, pick(s.at.label), pick(s.at.subject))
	s.checkKinds(names)
	if err := s.err(s.full()); err != nil {
		return err
	}
	s.src.Select(picked)
	s.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	s.people = map[[2]uint64]int{}
	return nil
}

func (s *scanner) newBatch() *batch {
	p := len(s.contract.Features)
	rows := max(1, min(batchNumbers/p, 1024))
	b := &batch{x: make([]float64, rows*p), rows: make([]Row, rows), at: make([]int, rows)}
	for i := range b.rows {
		b.rows[i].X = b.x[i*p : (i+1)*p]
	}
	return b
}

// fill reads rows into a batch until it is full; its problem is io.EOF at the end.
func (s *scanner) fill(b *batch) {
	b.n, b.faults = 0, b.faults[:0]
	for b.n < len(b.rows) && b.problem == nil {
		b.problem = s.next(b)
	}
	p := len(s.contract.Features) + 2
	for i := range b.n {
		b.rows[i].Faults = nil
		if at := b.at[i]; at >= 0 {
			b.rows[i].Faults = b.faults[at : at+p]
		}
	}
}

// next reads a row, and adds it unless something is wrong with it.
func (s *scanner) next(b *batch) error {
	err := s.src.Next(&s.record)
	if err == io.EOF {
		return s.end()
	}
	sum := s.summary
	seen := sum.Rows + sum.BadRows
	var problem *CellError
	if errors.As(err, &problem) {
		s.add(*problem)
		if problem.Ends {
			return s.err(problem.more)
		}
		sum.BadRows++
		if s.full() && !s.opt.Survey {
			return s.err(true)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if seen >= s.opt.MaxRows {
		row, line := s.record.place(0)
		if line > 0 {
			line = s.record.Line
		}
		s.add(CellError{Line: line, Row: row, Problem: fmt.Sprintf("there are more than %s, the most that may be read", count(s.opt.MaxRows, "row")),
			Hint: "the contract's max_rows bounds what one party may contribute"})
		return s.err(false)
	}
	row := &b.rows[b.n]
	b.at[b.n] = -1
	s.read(row, b)
	sum.Rows++
	row.Number, row.Line = s.record.Row, s.record.Line
	if row.Line == 0 {
		row.Line = row.Number
	}
	if s.opt.Survey || len(s.list) == 0 {
		b.n++
	}
	if s.full() && !s.opt.Survey {
		return s.err(true)
	}
	return nil
}

// read reads the record's cells into a row.
func (s *scanner) read(row *Row, b *batch) {
	x, cells := row.X, s.record.Cells
	for j := range s.features {
		t := &s.features[j]
		v, fault := t.value(&cells[s.cells[j]])
		x[j] = v
		if t.wide && !s.mixed && fault == None {
			s.mixed = !ascii(cells[s.cells[j]].text)
		}
		if v != v && (fault == None || fault == Missing) {
			s.summary.Missing[j]++
		}
		if fault == None {
			continue
		}
		if fault == Outside {
			s.summary.Outside[j]++
			if s.opt.AllowOutOfRange {
				continue
			}
		}
		s.fault(b, t, j, fault)
	}
	p := len(s.features)
	row.Class, row.Value, row.Subject = -1, math.NaN(), -1
	if i := s.cells[p]; i >= 0 {
		s.readLabel(row, &cells[i], b)
	}
	if i := s.cells[p+1]; i >= 0 {
		s.readSubject(row, &cells[i], b)
	}
}

func (s *scanner) readLabel(row *Row, c *Cell, b *batch) {
	v, fault := s.label.value(c)
	switch {
	case fault == Missing && s.opt.Label == Optional:
		s.blank++
	case fault != None:
		s.fault(b, &s.label, len(s.features), fault)
	case s.label.form == levels:
		row.Class = int(v)
	default:
		row.Value = v
	}
}

// readSubject reads the cell that tells people apart: only which rows are of the same
// person is kept of it, by two 64-bit hashes with keys of this run.
func (s *scanner) readSubject(row *Row, c *Cell, b *batch) {
	cell := trim(c.text)
	if c.Kind != Text {
		var ok bool
		if s.spelled, ok = c.spelled(s.spelled[:0]); !ok {
			s.spelled = nil
		}
		cell = s.spelled
	}
	if s.missing.text(cell) {
		t := typed{name: s.contract.Subject}
		s.fault(b, &t, len(s.features)+1, Missing)
		return
	}
	if !utf8.Valid(cell) {
		t := typed{name: s.contract.Subject}
		s.fault(b, &t, len(s.features)+1, Malformed)
		return
	}
	s.mixed = s.mixed || !ascii(cell)
	key := [2]uint64{maphash.Bytes(s.seeds[0], cell), maphash.Bytes(s.seeds[1], cell)}
	who, ok := s.people[key]
	if !ok {
		who = len(s.people)
		s.people[key] = who
	}
	row.Subject = who
}

// fault notes what is wrong with the cell of the i-th of features, label and subject.
func (s *scanner) fault(b *batch, t *typed, i int, fault Fault) {
	s.summary.Faults[i][fault]++
	if s.opt.Survey {
		if b.at[b.n] < 0 {
			b.at[b.n] = len(b.faults)
			b.faults = append(b.faults, make([]Fault, len(s.features)+2)...)
		}
		b.faults[b.at[b.n]+i] = fault
	}
	if s.full() {
		return
	}
	at := s.cells[i]
	problem, hint := t.explain(&s.record.Cells[at], fault, s.mixed)
	row, line := s.record.place(at)
	s.add(CellError{Row: row, Line: line, Column: s.field(i) + 1, Name: t.name, Problem: problem, Hint: hint})
}

// field is the source's column of the i-th of features, label and subject.
func (s *scanner) field(i int) int {
	switch p := len(s.features); i {
	case p:
		return s.at.label
	case p + 1:
		return s.at.subject
	}
	return s.at.features[i]
}

// end judges the whole when all rows were read.
func (s *scanner) end() error {
	sum := s.summary
	if sum.Rows+sum.BadRows == 0 && len(s.list) == 0 {
		s.add(CellError{Problem: "has a header and no rows", Hint: "write the rows below the header; where they come from a query, look whether it finds any"})
		return s.err(false)
	}
	s.blankLabels(sum.Rows)
	sum.People = sum.Rows
	if s.cells[len(s.features)+1] >= 0 {
		sum.People = len(s.people)
	}
	sum.Labelled = s.cells[len(s.features)] >= 0 && s.blank == 0
	if !s.opt.Survey {
		if err := s.err(false); err != nil {
			return err
		}
	}
	sum.Problems = s.list
	return io.EOF
}

// blankLabels judges an optional label that is empty in some of n rows: it is
// there in all rows or in none.
func (s *scanner) blankLabels(n int) {
	if s.blank > 0 && s.blank < n {
		s.add(CellError{Column: s.at.label + 1, Name: s.contract.Label.Name,
			Problem: fmt.Sprintf("the label is empty in %d of %d rows", s.blank, n),
			Hint:    "fill the label in for every row, or empty or remove the whole column"})
	}
}
