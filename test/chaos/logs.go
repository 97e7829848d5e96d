package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"concord/audit"
	"concord/identity"
	"concord/internal/site"
	"concord/internal/store"
	"concord/wire"
)

// checkLog follows the analyst's audit log, in which every head that a receipt carried
// must still stand.
func (p *play) checkLog(ctx context.Context, st *store.Store, dir string, hash wire.Hash) error {
	id, err := identityIn(dir)
	if err != nil {
		return err
	}
	var log bytes.Buffer
	if err := st.WriteAudit(ctx, hash, &log); err != nil {
		return err
	}
	var said strings.Builder
	chain, err := audit.Verify(&log, id.Statement.Fingerprint(), hash, audit.KeysOf(id.Statement), func(e *audit.Entry) error {
		if e.Kind == audit.Refused {
			fmt.Fprintln(&said, e.Note)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("the analyst's audit log: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = said.String()
	for _, head := range p.heads {
		if head.Number > chain.Len() || chain.Hash(head.Number) != head.Hash {
			return fmt.Errorf("the analyst's audit log has %d entries and not the entry %d that a receipt names", chain.Len(), head.Number)
		}
	}
	return nil
}

// checkLog follows a party's audit log. A crash may have cut off an entry that was
// being written; what was acknowledged is whole.
func (q *holder) checkLog(s *site.Site, id *identity.Identity, hash wire.Hash) error {
	f, err := s.OpenAudit()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: it has joined, and has no audit log", q.name)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	kinds := map[audit.Kind]int{}
	if _, err := audit.Verify(f, id.Statement.Fingerprint(), hash, audit.KeysOf(id.Statement), func(e *audit.Entry) error {
		kinds[e.Kind]++
		return nil
	}); err != nil {
		return fmt.Errorf("%s: its audit log: %w", q.name, err)
	}
	for step, kind := range map[string]audit.Kind{
		"join": audit.Joining, "roster confirm": audit.Confirmed, "prepare": audit.Prepared, "approve": audit.Approved, "send": audit.Receipt, "receive": audit.Modelled,
	} {
		if q.has(step) && kinds[kind] == 0 {
			return fmt.Errorf("%s: %s was acknowledged, and its audit log has no entry %q", q.name, step, kind)
		}
	}
	return nil
}
