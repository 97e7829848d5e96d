package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
)

// maxGroup changes at most share a transaction.
const maxGroup = 64

// writer runs changes one after another. Those that come while others are being
// flushed to the disk share the next transaction, and so one flush: with many
// parties at once the disk decides how long a flush takes, not how many there are.
type writer struct {
	db *sql.DB

	mu      sync.Mutex
	waiting []*change

	busy sync.Mutex // held by whoever runs a group
}

// change is one call that waits for its turn.
type change struct {
	ctx  context.Context
	f    func(*sql.Tx) error
	err  error
	done bool
}

// change runs f in a transaction that is durable when change returns nil. f may be
// run more than once, and beside it in the same transaction the changes of other
// callers; what it did is undone if it fails, and only that.
func (s *Store) change(ctx context.Context, f func(*sql.Tx) error) error {
	return s.writer.run(ctx, f)
}

func (w *writer) run(ctx context.Context, f func(*sql.Tx) error) error {
	c := &change{ctx: ctx, f: f}
	w.mu.Lock()
	w.waiting = append(w.waiting, c)
	w.mu.Unlock()
	// Whoever comes first runs all that wait; the others find theirs done.
	w.busy.Lock()
	defer w.busy.Unlock()
	for !c.done {
		w.mu.Lock()
		group := w.waiting[:min(maxGroup, len(w.waiting))]
		w.waiting = w.waiting[len(group):]
		w.mu.Unlock()
		w.commit(group)
	}
	return full(c.err)
}

// commit runs a group of changes and makes them durable. If the transaction as a
// whole fails, each change is tried alone, so that nobody gets another's error.
func (w *writer) commit(group []*change) {
	err := w.try(group)
	for _, c := range group {
		c.done = true
		if err == nil {
			continue
		}
		if len(group) > 1 {
			c.err = nil
			if err := w.try([]*change{c}); err != nil {
				c.err = errors.Join(c.err, err)
			}
		} else {
			c.err = errors.Join(c.err, err)
		}
	}
}

// try runs a group in one transaction. A change that fails keeps its own error
// and leaves no trace; what try returns concerns the whole transaction.
func (w *writer) try(group []*change) error {
	tx, err := w.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	done := 0
	for _, c := range group {
		if c.err = c.ctx.Err(); c.err != nil {
			continue
		}
		if err := within(tx, c); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		if c.err == nil {
			done++
		}
	}
	if done == 0 {
		return tx.Rollback()
	}
	return tx.Commit()
}

// within runs one change between a savepoint and its release.
func within(tx *sql.Tx, c *change) error {
	if _, err := tx.Exec("SAVEPOINT change"); err != nil {
		return err
	}
	if c.err = safely(tx, c.f); c.err != nil {
		if _, err := tx.Exec("ROLLBACK TO change"); err != nil {
			return err
		}
	}
	_, err := tx.Exec("RELEASE change")
	return err
}

// safely turns a panic into an error: the transaction is not only the caller's.
func safely(tx *sql.Tx, f func(*sql.Tx) error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("store: a change panicked: %v", v)
		}
	}()
	return f(tx)
}
