package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"concord/identity"
	"concord/internal/api"
	"concord/internal/server"
	"concord/member"
)

// rekey gives a party new keys, by the operation that the handler of amendments calls.
func (w *world) rekey(chain *member.Chain, old *identity.Identity) (*identity.Identity, error) {
	w.t.Helper()
	next := newIdentity(w.t, identity.RoleParty, old.Statement.Name)
	a, err := chain.Propose(member.AmendRekey, old.Statement.Fingerprint(), next.Statement, "")
	if err != nil {
		w.t.Fatal(err)
	}
	a.Sign(old)
	a.Sign(next)
	if _, err := w.server.Amend(w.t.Context(), w.study, old.Statement.Fingerprint(), a.Encode()); err != nil {
		return nil, err
	}
	a.Sign(w.analyst)
	return next, chain.Extend(a, nil)
}

// TestManyKeys: nobody has to agree to a party's new keys, but everybody checks them from
// then on; a party cannot have them without end.
func TestManyKeys(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	w := newWorld(t)
	w.join()
	chain := member.NewChain(w.contract, w.study, w.roster)
	id := w.parties[0]
	for i := range 33 {
		next, err := w.rekey(chain, id)
		if i < 32 {
			if err != nil {
				t.Fatalf("new keys %d: %v", i+1, err)
			}
			id = next
			continue
		}
		if e := server.Explain(err); e.Code != api.CodeQuota {
			t.Errorf("new keys %d: %v, code %q; want %q", i+1, err, e.Code, api.CodeQuota)
		}
	}
	if _, err := w.rekey(chain, w.parties[1]); err != nil {
		t.Errorf("new keys of the other party: %v", err)
	}
}

// TestLeftUnderOldKeys: the analyst gets the same receipt again for a party that has left,
// by whichever of its fingerprints it is named.
func TestLeftUnderOldKeys(t *testing.T) {
	w := newWorld(t)
	w.join()
	a, b := w.parties[0], w.parties[1]
	if _, err := w.as(a).Send(t.Context(), w.setup(a, b)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.as(b).Send(t.Context(), w.setup(b, a)); err != nil {
		t.Fatal(err)
	}
	next, err := w.rekey(member.NewChain(w.contract, w.study, w.roster), a)
	if err != nil {
		t.Fatal(err)
	}
	first, err := w.server.WithdrawOnPaper(t.Context(), w.study, next.Statement.Fingerprint(), "on paper")
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range []*identity.Identity{next, a} {
		again, err := w.server.WithdrawOnPaper(t.Context(), w.study, id.Statement.Fingerprint(), "on paper")
		if err != nil || !bytes.Equal(again.Encode(), first.Encode()) {
			t.Errorf("again, named by keys %d: %v; want the same receipt", i, err)
		}
	}
}

// TestStreamsLeaveRoom: what is still to come of one bundle, another has to leave free,
// and no more comes of a bundle than its envelope says.
func TestStreamsLeaveRoom(t *testing.T) {
	w := newWorld(t, server.WithLimits(server.Limits{ReserveBytes: 1 << 20}))
	w.join()
	a, b := w.parties[0], w.parties[1]
	whole, other := readFile(t, w.large(a, 1<<16, nil)), readFile(t, w.large(b, 1<<16, nil))
	w.server.SetRoom(func(string) (int64, error) { return 1<<20 + int64(len(whole)) + 1000, nil })
	put := func(id *identity.Identity, body io.Reader) (int, string) {
		status, _, code := w.ask(w.rawClient(id), "PUT", api.Path(api.PathBundles, w.study), http.Header{"Content-Type": {api.BundleMediaType}}, body)
		return status, code
	}
	read, write := io.Pipe()
	ended := make(chan string, 1)
	go func() {
		status, code := put(a, read)
		ended <- fmt.Sprint(status, code)
	}()
	// Once more than the server reads ahead has gone, it has the envelope.
	if _, err := write.Write(whole[:len(line(whole))+1]); err != nil {
		t.Fatal(err)
	}
	for ; w.server.Taking() == 0; time.Sleep(time.Millisecond) {
		select {
		case s := <-ended:
			t.Fatalf("the first ended with %s", s)
		default:
		}
	}
	if status, code := put(b, bytes.NewReader(other)); status != http.StatusInsufficientStorage || code != api.CodeFull {
		t.Errorf("beside a bundle that takes the room: %d %q, want %d %q", status, code, http.StatusInsufficientStorage, api.CodeFull)
	}
	if _, err := write.Write(whole[len(line(whole))+1:]); err != nil {
		t.Fatal(err)
	}
	write.Close()
	<-ended
	if n := w.server.Taking(); n != 0 {
		t.Errorf("when nothing comes in, %d bytes are counted", n)
	}
}
