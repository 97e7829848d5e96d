package concord_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/cli/concord"
	"concord/internal/parcel"
	"concord/member"
	"concord/wire"
)

const yaml = `
name: Test
protocol: nri
parties: 2
features: [{name: a, range: [0, 1]}, {name: b, range: [0, 1]}, {name: c, range: [0, 1]}]
label: {name: y, levels: [no, yes], positive: yes}
subject: who
basis: {kind: pca-perturbed, dim: 2}
model: {kind: logistic}
`

// asking is a site that has asked to join by a file, and the analyst who may answer.
type asking struct {
	t        *testing.T
	dir      string
	site     string
	analyst  *identity.Identity
	contract []byte
	study    wire.Hash
	own      *identity.Statement
	number   int64
}

func newAsking(t *testing.T) *asking {
	t.Helper()
	a := &asking{t: t, dir: t.TempDir(), number: 1000}
	a.site = filepath.Join(a.dir, "site")
	c, err := contract.ParseYAML([]byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	if a.contract, err = c.Encode(); err != nil {
		t.Fatal(err)
	}
	a.study = wire.HashOf(a.contract)
	a.analyst = a.identity(identity.RoleAnalyst, "Office")
	invite := member.NewInvite("192.0.2.1:9", a.study, a.analyst.Statement.Fingerprint())
	a.want(0, "asks to join", "join", invite.Line(), "--name", "North", "--to", filepath.Join(a.dir, "join.parcel"))
	raw, err := os.ReadFile(filepath.Join(a.site, "statement.json"))
	if err != nil {
		t.Fatal(err)
	}
	if a.own, err = identity.DecodeStatement(raw); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *asking) identity(role identity.Role, name string) *identity.Identity {
	a.t.Helper()
	id, err := identity.New(role, name, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	return id
}

// want runs concord and checks its exit status and what it prints.
func (a *asking) want(status int, text string, args ...string) {
	a.t.Helper()
	var out bytes.Buffer
	got := concord.Run(a.t.Context(), append([]string{"--dir", a.site}, args...), strings.NewReader(""), &out, &out)
	if got != status || !strings.Contains(out.String(), text) {
		a.t.Errorf("concord %s: exit status %d, want %d, and %q, in\n%s", strings.Join(args, " "), got, status, text, out.String())
	}
}

// parcel writes what change makes of a good answer to the request to join.
func (a *asking) parcel(change func(h *parcel.Head, items *[]parcel.Source, from **identity.Identity, to **age.HybridRecipient)) string {
	a.t.Helper()
	a.number++
	from := a.analyst
	h := parcel.Head{Parcel: parcel.Analyst, Study: a.study, From: from.Statement.Fingerprint(), To: a.own.Fingerprint(), Number: a.number}
	items := []parcel.Source{
		parcel.FromBytes(parcel.KindStatement, from.Statement.Encode()),
		parcel.FromBytes(parcel.KindContract, a.contract),
	}
	r, err := a.own.AgeRecipient()
	if err != nil {
		a.t.Fatal(err)
	}
	to := r.(*age.HybridRecipient)
	if change != nil {
		change(&h, &items, &from, &to)
	}
	path := filepath.Join(a.dir, fmt.Sprintf("%d.parcel", a.number))
	f, err := os.Create(path)
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	if _, err := parcel.Write(f, h, items, from.SigningKey(), to); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// files are the names and contents of all that lies in the test's folder, the parcels
// apart.
func (a *asking) files() string {
	a.t.Helper()
	var out strings.Builder
	err := filepath.WalkDir(a.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".parcel") {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintln(&out, path, wire.HashOf(b))
		return err
	})
	if err != nil {
		a.t.Fatal(err)
	}
	return out.String()
}

// TestTakeForged: whoever forges, redirects or repeats another's parcel changes nothing
// at a site that has asked to join, nor beside it.
func TestTakeForged(t *testing.T) {
	a := newAsking(t)
	thief := a.identity(identity.RoleAnalyst, "Office")
	thiefKey, err := thief.Statement.AgeRecipient()
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(a.contract, []byte("Test"), []byte("Tost"), 1)
	before := a.files()
	for _, c := range []struct {
		name, want string
		change     func(h *parcel.Head, items *[]parcel.Source, from **identity.Identity, to **age.HybridRecipient)
	}{
		{"another analyst", "the analyst of this study is", func(h *parcel.Head, items *[]parcel.Source, from **identity.Identity, _ **age.HybridRecipient) {
			*from, h.From, (*items)[0] = thief, thief.Statement.Fingerprint(), parcel.FromBytes(parcel.KindStatement, thief.Statement.Encode())
		}},
		{"signed by another", "not signed by the sender", func(_ *parcel.Head, _ *[]parcel.Source, from **identity.Identity, _ **age.HybridRecipient) {
			*from = thief
		}},
		{"another's statement", "not its sender's", func(_ *parcel.Head, items *[]parcel.Source, from **identity.Identity, _ **age.HybridRecipient) {
			*from, (*items)[0] = thief, parcel.FromBytes(parcel.KindStatement, thief.Statement.Encode())
		}},
		{"no statement", "does not begin with", func(_ *parcel.Head, items *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			*items = (*items)[1:]
		}},
		{"another study", "this folder takes part in", func(h *parcel.Head, _ *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			h.Study = wire.Hash{1}
		}},
		{"another site", "is for the site", func(h *parcel.Head, _ *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			h.To = wire.Hash{1}
		}},
		{"sealed to another", "somebody else's key", func(_ *parcel.Head, _ *[]parcel.Source, _ **identity.Identity, to **age.HybridRecipient) {
			*to = thiefKey.(*age.HybridRecipient)
		}},
		{"from a site", "from a site to the analyst", func(h *parcel.Head, _ *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			h.Parcel = parcel.Party
		}},
		{"another contract", "not hold the contract that the invite names", func(_ *parcel.Head, items *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			(*items)[1] = parcel.FromBytes(parcel.KindContract, other)
		}},
		{"two contracts", "two items of kind contract", func(_ *parcel.Head, items *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			*items = append(*items, (*items)[1])
		}},
		{"no contract", "not hold the contract that the invite names", func(_ *parcel.Head, items *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			*items = (*items)[:1]
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a.t = t
			a.want(1, c.want, "take", a.parcel(c.change))
			if after := a.files(); after != before {
				t.Errorf("files before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
	a.t = t
	if err := os.WriteFile(filepath.Join(a.dir, "table.csv"), []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.want(1, "not a parcel", "take", filepath.Join(a.dir, "table.csv"))
	a.want(1, "is not a file", "take", a.dir)
	a.want(1, "no such file", "take", filepath.Join(a.dir, "none"))
	a.want(0, "not let this site in yet", "take", a.parcel(nil))
}

// bundle is a bundle from the analyst that says it is for somebody, and holds n bytes.
func (a *asking) bundle(kind string, to wire.Hash, n int) parcel.Source {
	a.t.Helper()
	members := []bundle.Source{bundle.FromBytes("x", make([]byte, n))}
	m, err := bundle.Describe(bundle.Draft{Header: bundle.Header{
		Study: a.study, Epoch: wire.Hash{2}, Sender: a.analyst.Statement.Fingerprint(), Recipients: []wire.Hash{to}, Kind: kind, Number: 1,
	}, Members: members})
	if err != nil {
		a.t.Fatal(err)
	}
	approval, err := bundle.Approve(m.Encode(), a.analyst.SigningKey(), bundle.PolicyPerson, time.Now())
	if err != nil {
		a.t.Fatal(err)
	}
	r, err := a.own.AgeRecipient()
	if err != nil {
		a.t.Fatal(err)
	}
	f, err := os.CreateTemp(a.t.TempDir(), "bundle")
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	if _, err := bundle.Seal(f, bundle.Sealing{Manifest: m, Sources: members, Approval: approval}, a.analyst.SigningKey(), r); err != nil {
		a.t.Fatal(err)
	}
	item, err := parcel.FromFile(parcel.KindBundle, f.Name())
	if err != nil {
		a.t.Fatal(err)
	}
	return item
}

// TestTakeHostile: what an analyst's parcel may hold that no site accepts: nothing that it
// says is kept then, and nothing else goes either.
func TestTakeHostile(t *testing.T) {
	a := newAsking(t)
	a.want(0, "not let this site in yet", "take", a.parcel(nil))
	own := a.own.Fingerprint()
	message := func(kind string, v any) parcel.Source {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return parcel.FromBytes(kind, b)
	}
	good := a.bundle(bundle.KindResult, own, 10)
	status := message(parcel.KindStatus, api.Status{State: api.StateSetup, Expected: 2, Present: 2})
	thief := a.identity(identity.RoleAnalyst, "Thief")
	receipt := member.Receipt{Format: 1, Study: a.study, Sender: own, Received: time.Now().UTC().Truncate(time.Second)}
	receipt.Sign(thief)
	news := func(items ...parcel.Source) string {
		return a.parcel(func(_ *parcel.Head, all *[]parcel.Source, _ **identity.Identity, _ **age.HybridRecipient) {
			*all = append(*all, items...)
		})
	}
	a.want(0, "this site's result", "take", news(status, good))
	taken, err := os.ReadFile(filepath.Join(a.site, "post", "taken.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, want string
		items      []parcel.Source
	}{
		{"a roster that is none", "not the JSON", []parcel.Source{parcel.FromBytes(parcel.KindRoster, []byte("{"))}},
		{"two rosters", "two items of kind roster", []parcel.Source{message(parcel.KindRoster, api.Roster{}), message(parcel.KindRoster, api.Roster{})}},
		{"a long receipt", "at most", []parcel.Source{parcel.FromBytes(parcel.KindReceipt, make([]byte, member.MaxReceiptBytes+1))}},
		{"a bundle that is none", "not a bundle", []parcel.Source{parcel.FromBytes(parcel.KindBundle, []byte("rows"))}},
		{"a bundle for somebody else", "for somebody else", []parcel.Source{a.bundle(bundle.KindResult, wire.Hash{1}, 10)}},
		{"a bundle twice", "twice", []parcel.Source{good, good}},
		{"a bundle over its limit", "at most", []parcel.Source{a.bundle(bundle.KindResult, own, 8<<20)}},
		{"another's receipt", "does not verify", []parcel.Source{parcel.FromBytes(parcel.KindReceipt, receipt.Encode())}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a.t = t
			a.want(1, c.want, "take", news(append([]parcel.Source{status}, c.items...)...))
			if now, err := os.ReadFile(filepath.Join(a.site, "post", "taken.json")); err != nil || !bytes.Equal(now, taken) {
				t.Errorf("taken.json was %s, is %s, %v", taken, now, err)
			}
		})
	}
	a.t = t
	// What cannot be known is passed over and named; what a terminal would obey is not
	// printed.
	a.want(0, "something of kind tomorrow", "take", news(parcel.FromBytes("tomorrow", []byte("?")), message(parcel.KindStatus, api.Status{State: "setup\x1b[2J", Problem: "\x1b[31m"})))
	var out bytes.Buffer
	concord.Run(t.Context(), []string{"--dir", a.site, "status"}, strings.NewReader(""), &out, &out)
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("status prints %q", out.String())
	}
	// The bundle that the newest parcel does not list is gone; an older one brings nothing
	// back.
	posted, err := filepath.Glob(filepath.Join(a.site, "post", "*.bundle"))
	if err != nil || len(posted) != 0 {
		t.Errorf("bundles of an older parcel: %v, %v", posted, err)
	}
	a.number = 1001
	a.want(0, "older than one that was taken before", "take", news(status, good))
	if posted, err := filepath.Glob(filepath.Join(a.site, "post", "*.bundle")); err != nil || len(posted) != 0 {
		t.Errorf("an older parcel brought %v, %v", posted, err)
	}
}
