package concord_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"concord/bundle"
	"concord/internal/api"
	"concord/member"
	"concord/wire"
)

// TestRelayCannotRead: the relay opens no share with its own keys, and finds none of
// what is in it anywhere in its store.
func TestRelayCannotRead(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	for _, name := range clinics {
		raw := o.file(o.shareOf(name))
		s := o.statementOf(name)
		_, err := bundle.Open(bytes.NewReader(raw), int64(len(raw)), bundle.Expect{
			Study: o.study, Epoch: o.shareOf(name).Epoch, Kind: bundle.KindSetup, Sender: s.Fingerprint(), SenderKey: s.SigningKey,
			Recipient: o.statementOf(clinics[(slices.Index(clinics, name)+1)%3]).Fingerprint(),
		}, o.id.AgeIdentity())
		if err == nil || !strings.Contains(err.Error(), "not sealed to this recipient's key") {
			t.Errorf("the relay opens the share of %s: %v", name, err)
		}
		entropy, err := os.ReadFile(filepath.Join(o.site(name), "setup", "leaves", "entropy.bin"))
		if err != nil || len(entropy) != 32 {
			t.Fatalf("entropy of %s: %d bytes, %v", name, len(entropy), err)
		}
		for _, other := range clinics {
			if bytes.Contains(o.file(o.shareOf(other)), entropy[:8]) {
				t.Errorf("the entropy of %s stands in the share of %s", name, other)
			}
		}
	}
	o.send()
	o.sameSeeds()
}

// TestRelayAlters: a share that the relay has changed anywhere is refused, and the honest
// one is taken afterwards.
func TestRelayAlters(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	share := o.shareOf("East")
	n := len(o.file(share))
	for _, at := range []int{10, n / 2, n - 1} {
		o.bendFetch = func(party string, manifest wire.Hash, raw []byte) []byte {
			if party == "North" && manifest == share.Manifest {
				raw = bytes.Clone(raw)
				raw[at] ^= 1
			}
			return raw
		}
		o.must(1, `the setup bundle of "East": `, "North", "sync")
		o.noSeed("North")
	}
	o.bendFetch = func(party string, manifest wire.Hash, raw []byte) []byte { return raw[:len(raw)-min(20, len(raw))] }
	o.must(1, `": bundle: the payload has `, "North", "sync") // the first that it looks at
	o.noSeed("North")
	o.bendFetch = nil
	o.send()
	o.sameSeeds()
}

// TestRelaySwaps: one party's share in the place of another's, or a party's own sent back
// to it, is refused.
func TestRelaySwaps(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	east, west := o.file(o.shareOf("East")), o.file(o.shareOf("West"))
	o.bendFetch = func(party string, manifest wire.Hash, raw []byte) []byte {
		switch {
		case party != "North":
			return raw
		case manifest == o.shareOf("East").Manifest:
			return west
		}
		return east
	}
	o.must(1, ", expected from ", "North", "sync")
	o.noSeed("North")
	own := o.file(o.shareOf("North"))
	o.bendFetch = func(string, wire.Hash, []byte) []byte { return own }
	o.must(1, ", expected from ", "North", "sync")
	o.noSeed("North")
	// Claimed in the list: East's share as West's too.
	o.bendFetch = nil
	o.bendBundles = func(party string, a *api.Bundles) {
		for i := range a.Bundles {
			if a.Bundles[i].Sender == o.statementOf("West").Fingerprint() {
				a.Bundles[i].Manifest = o.shareOf("East").Manifest
			}
		}
	}
	o.must(1, `the setup bundle of "West": `, "North", "sync")
	o.noSeed("North")
	o.bendBundles = nil
	o.send()
	o.sameSeeds()
}

// TestRelayReordersAndWithholds: the order in which shares are listed changes nothing; a
// share that is held back stalls the party and names whose it is; and when it comes the
// anchor is the same.
func TestRelayReordersAndWithholds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := ready(t)
	o.bendBundles = func(party string, a *api.Bundles) {
		if party == "North" {
			a.Bundles = slices.DeleteFunc(a.Bundles, func(b api.BundleInfo) bool { return b.Sender == o.statementOf("East").Fingerprint() })
		}
		slices.Reverse(a.Bundles)
		a.Bundles = append(a.Bundles, a.Bundles...) // and every one twice
	}
	for range 2 {
		o.must(3, "waiting for East to send their share of the anchor seed", "North", "sync")
		o.noSeed("North")
	}
	o.must(0, "the anchor is agreed among 3 parties", "West", "sync")
	o.must(0, "the anchor is agreed among 3 parties", "East", "sync")
	o.bendBundles = nil
	o.must(0, "the anchor is agreed among 3 parties", "North", "sync")
	o.sameSeeds()
}

// TestRelayReplays: shares of an earlier roster of the same study, and of another study,
// are refused with both epochs named.
func TestRelayReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	o := newOffice(t)
	o.join()
	o.confirm(clinics...)
	o.concord("North", "sync")
	o.concord("East", "sync")
	share := o.shareOf("East")
	old := o.file(share)
	// Setup is not complete: the analyst takes West out and in again, which makes
	// roster 2 of the same keys.
	if err := o.server.Remove(t.Context(), o.study, o.statementOf("West").Fingerprint(), "a mistake", true); err != nil {
		t.Fatal(err)
	}
	invite := member.NewInvite(o.front.Listener.Addr().String(), o.study, o.id.Statement.Fingerprint())
	if err := o.store.AddInvite(t.Context(), o.study, wire.HashOf(invite.Secret.Reveal()), ""); err != nil {
		t.Fatal(err)
	}
	o.must(0, "joined as", "West", "join", invite.Line(), "--name", "West")
	o.must(1, "made a new roster, number 2, before setup was complete", "North", "sync")
	o.confirm(clinics...)
	o.send()
	for _, name := range clinics {
		os.Remove(filepath.Join(o.site(name), "anchor.secret"))
	}
	now := o.shareOf("East")
	if now.Manifest == share.Manifest || now.Epoch == share.Epoch {
		t.Fatal("roster 2 has the share of roster 1")
	}
	other := ready(t)
	foreign := other.shareOf("East")
	for _, replay := range []struct {
		raw   []byte
		epoch wire.Hash
	}{{old, share.Epoch}, {other.file(foreign), foreign.Epoch}} {
		o.bendFetch = func(_ string, manifest wire.Hash, raw []byte) []byte {
			if manifest == now.Manifest {
				return replay.raw
			}
			return raw
		}
		o.must(1, fmt.Sprintf("it belongs to epoch %s, which is none that led to the present one, %s (roster 2)", replay.epoch.Short(), now.Epoch.Short()), "North", "sync")
		o.noSeed("North")
	}
	o.bendFetch = nil
	o.send()
	o.sameSeeds()
}
