package store

import "fmt"

// SetMostPages bounds the database's file: a write beyond is told that the disk is full. 0
// leaves it as it is now. It returns the pages that it has.
func (s *Store) SetMostPages(n int) (pages int, err error) {
	if err := s.writer.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		return 0, err
	}
	if n == 0 {
		n = pages
	}
	var most int
	return pages, s.writer.db.QueryRow(fmt.Sprintf("PRAGMA max_page_count = %d", n)).Scan(&most)
}

// Pragma is a setting of the connection that writes.
func (s *Store) Pragma(name string) (value string, err error) {
	err = s.writer.db.QueryRow("PRAGMA " + name).Scan(&value)
	return value, err
}
