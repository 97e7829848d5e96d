package bundle_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/wire"
)

var (
	studyHash  = wire.HashOf([]byte("contract"))
	epochHash  = wire.HashOf([]byte("epoch"))
	anchorHash = wire.HashOf([]byte("anchor"))
	someTime   = time.Date(2026, 3, 4, 5, 6, 7, 8, time.FixedZone("", 3600))
)

var (
	alice   = sync.OnceValue(func() who { return participant("alice") }) // sends
	bob     = sync.OnceValue(func() who { return participant("bob") })
	carol   = sync.OnceValue(func() who { return participant("carol") })
	mallory = sync.OnceValue(func() who { return participant("mallory") }) // is not in the study
)

// who is a participant of the tests: keys from its name, but for age.
type who struct {
	name string
	key  ed25519.PrivateKey
	age  *age.HybridIdentity
}

func (w who) print() wire.Hash          { return wire.HashOf([]byte("statement of " + w.name)) }
func (w who) public() ed25519.PublicKey { return w.key.Public().(ed25519.PublicKey) }
func (w who) recipient() age.Recipient  { return w.age.Recipient() }

func signingKey(s string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("signing key of " + s))
	return ed25519.NewKeyFromSeed(seed[:])
}

// ageKeys holds the age identities of the samples and tests, by name. They
// protect nothing.
var ageKeys = sync.OnceValue(func() map[string]string {
	b, err := os.ReadFile("testdata/keys.json")
	if err != nil {
		panic(err)
	}
	var keys map[string]string
	if err := json.Unmarshal(b, &keys); err != nil {
		panic(err)
	}
	return keys
})

func participant(name string) who {
	id, err := age.ParseHybridIdentity(ageKeys()[name])
	if err != nil {
		panic(fmt.Sprintf("%s in testdata/keys.json: %v", name, err))
	}
	return who{name, signingKey(name), id}
}

func header(kind string, to ...who) bundle.Header {
	h := bundle.Header{Study: studyHash, Epoch: epochHash, Sender: alice().print(), Kind: kind, Round: 1, Number: 1}
	for _, r := range to {
		h.Recipients = append(h.Recipients, r.print())
	}
	return h
}

func expect(kind string, recipient who) bundle.Expect {
	return bundle.Expect{Study: studyHash, Epoch: epochHash, Kind: kind, Sender: alice().print(), SenderKey: alice().public(), Recipient: recipient.print()}
}

var xValues = []float64{1.5, -2, 0.1, 3e300, 5e-324, 6}

// draft is a contribution of alice to bob.
func draft(to ...who) bundle.Draft {
	members := bundle.FromMatrix("X", mat.NewDense(3, 2, slices.Clone(xValues)))
	members = append(members, bundle.FromInts("Y", []int64{0, 1, 1}), bundle.FromBytes("report.txt", []byte("three rows\n")))
	return bundle.Draft{Header: header(bundle.KindContribution, to...), Anchor: &anchorHash, Members: members}
}

func describe(t testing.TB, d bundle.Draft) *bundle.Manifest {
	t.Helper()
	m, err := bundle.Describe(d)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func approve(t testing.TB, m *bundle.Manifest, key ed25519.PrivateKey) *bundle.Approval {
	t.Helper()
	a, err := bundle.Approve(m.Encode(), key, bundle.PolicyPerson, someTime)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func sealing(t testing.TB, d bundle.Draft) bundle.Sealing {
	t.Helper()
	m := describe(t, d)
	return bundle.Sealing{Manifest: m, Sources: d.Members, Approval: approve(t, m, alice().key)}
}

func recipients(to []who) []age.Recipient {
	var r []age.Recipient
	for _, w := range to {
		r = append(r, w.recipient())
	}
	return r
}

// sealed is a bundle of the draft from alice.
func sealed(t testing.TB, d bundle.Draft, to ...who) []byte {
	t.Helper()
	f := new(file)
	if _, err := bundle.Seal(f, sealing(t, d), alice().key, recipients(to)...); err != nil {
		t.Fatal(err)
	}
	return f.b
}

// file is an io.WriteSeeker in memory.
type file struct {
	b  []byte
	at int
}

func (f *file) Write(p []byte) (int, error) {
	f.b = append(f.b, make([]byte, max(0, f.at+len(p)-len(f.b)))...)
	copy(f.b[f.at:], p)
	f.at += len(p)
	return len(p), nil
}

func (f *file) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		f.at = int(off)
	case io.SeekCurrent:
		f.at += int(off)
	default:
		return 0, errors.New("not needed")
	}
	return int64(f.at), nil
}

func open(b []byte, want bundle.Expect, id who) (*bundle.Reader, error) {
	return bundle.Open(bytes.NewReader(b), int64(len(b)), want, id.age)
}

func openUnsealed(b []byte) (*bundle.Reader, error) {
	return bundle.OpenUnsealed(bytes.NewReader(b), int64(len(b)), 0)
}

// refused fails unless err is of that kind and says that.
func refused(t *testing.T, what string, err, kind error, text string) {
	t.Helper()
	if !errors.Is(err, kind) || !strings.Contains(err.Error(), text) {
		t.Errorf("%s:\n got %v\nwant %v, saying %q", what, err, kind, text)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "bundle: ") {
		t.Errorf("%s: %q does not begin with bundle:", what, err)
	}
}
