package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"concord/audit"
	"concord/internal/api"
	"concord/internal/store"
	"concord/wire"
)

// tellRefusals is how often the audit log of a study says what was refused there: a
// count, so that whoever knocks a million times writes one entry and not a million.
const tellRefusals = time.Minute

// maxRefusing bounds the studies that are counted at a time: the path of a request may
// name one that is not here.
const maxRefusing = 256

// refusals counts requests that were refused, by study and code, until the audit log
// has them. The server's log has a line for each.
type refusals struct {
	mu     sync.Mutex
	counts map[wire.Hash]map[string]int
}

// ordinary are refusals that tell of nothing: a party that asks too early, or whose
// clock or server's process changed, asks again.
var ordinary = []string{api.CodeNotYet, api.CodeAsks, api.CodeStale, api.CodeBusy, api.CodeInternal}

func (c *refusals) add(r *http.Request, code string) {
	if hash, err := wire.ParseHash(r.PathValue("study")); err == nil {
		c.count(hash, code)
	}
}

// count is add for a study that whoever asks has named in another way.
func (c *refusals) count(hash wire.Hash, code string) {
	if slices.Contains(ordinary, code) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[wire.Hash]map[string]int{}
	}
	if c.counts[hash] == nil {
		if len(c.counts) >= maxRefusing {
			return
		}
		c.counts[hash] = map[string]int{}
	}
	c.counts[hash][code]++
}

func (c *refusals) take() map[wire.Hash]map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	taken := c.counts
	c.counts = nil
	return taken
}

// noteRefusals writes the counts into the audit logs now and then, and a last time when
// ctx ends.
func (s *Server) noteRefusals(ctx context.Context) {
	tick := time.NewTicker(tellRefusals)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
		// The last time is short: the store is there until Serve returns.
		if err := s.tellRefusals(context.WithoutCancel(ctx)); err != nil {
			s.log.Error("note what was refused", "error", err)
		}
	}
}

func (s *Server) tellRefusals(ctx context.Context) error {
	var errs []error
	for hash, counts := range s.refusals.take() {
		if _, err := s.store.Study(ctx, hash); errors.Is(err, store.ErrNotFound) {
			continue
		} else if err != nil {
			errs = append(errs, err)
			continue
		}
		var words []string
		total := 0
		for _, code := range slices.Sorted(maps.Keys(counts)) {
			words = append(words, fmt.Sprintf("%s %d", code, counts[code]))
			total += counts[code]
		}
		note := fmt.Sprintf("requests refused since the last such entry: %d (%s); the server's log has each", total, strings.Join(words, ", "))
		errs = append(errs, s.store.Note(ctx, hash, audit.Event{Kind: audit.Refused, Note: note}))
	}
	return errors.Join(errs...)
}
