package visit

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/linalg"
	"concord/wire"
)

const piecesYAML = `name: Pieces
parties: 2
features: [{name: a, range: [0, 1]}, {name: b, range: [0, 1]}, {name: c, range: [0, 1]}]
label: {name: y, levels: ["no", "yes"], positive: "yes"}
anchor: {kind: smote, rows: 30}
basis: {kind: pca, dim: 2}
`

// TestTheirPiece: another party's piece is taken only if a person there approved it and
// a site's rows can have given it, however well it is sealed and signed.
func TestTheirPiece(t *testing.T) {
	c, err := contract.ParseYAML([]byte(piecesYAML))
	if err != nil {
		t.Fatal(err)
	}
	from, err := identity.New(identity.RoleParty, "East", nil)
	if err != nil {
		t.Fatal(err)
	}
	to, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &Visit{Contract: c, ID: to}
	read := func(name string, rows *mat.Dense, policy string) error {
		d := bundle.Draft{
			Header: bundle.Header{Format: bundle.Format, Study: wire.Hash{1}, Epoch: wire.Hash{2},
				Sender: from.Statement.Fingerprint(), Kind: bundle.KindSetup, Number: 1,
				Recipients: []wire.Hash{to.Statement.Fingerprint()}},
			Members: append([]bundle.Source{bundle.FromBytes(EntropyMember, make([]byte, 32))},
				bundle.FromMatrix(PieceMember, rows)...),
		}
		m, err := bundle.Describe(d)
		if err != nil {
			t.Fatal(err)
		}
		approval, err := bundle.Approve(m.Encode(), from.SigningKey(), policy, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		key, err := to.Statement.AgeRecipient()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := bundle.Seal(f,
			bundle.Sealing{Manifest: m, Sources: d.Members, Approval: approval, Approver: from.Statement.Approver()},
			from.SigningKey(), []age.Recipient{key}...); err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		r, err := bundle.Open(f, info.Size(), bundle.Expect{
			Study: wire.Hash{1}, Epoch: wire.Hash{2}, Kind: bundle.KindSetup, Sender: from.Statement.Fingerprint(),
			SenderKey: from.Statement.SigningKey, Approver: from.Statement.Approver(), Recipient: to.Statement.Fingerprint(),
		}, to.AgeIdentity())
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = v.theirPiece(r)
		return err
	}
	good := linalg.Uniform(30, 3, rand.NewPCG(1, 2))
	if err := read("good", good, bundle.PolicyPerson); err != nil {
		t.Errorf("an honest piece: %v", err)
	}
	absurd := mat.DenseCopyOf(good)
	absurd.Set(4, 1, 1e9)
	one := mat.NewDense(30, 3, nil)
	for _, tc := range []struct {
		name   string
		rows   *mat.Dense
		policy string
		want   string
	}{
		{"policy", good, "automatic", "not approved by a person"},
		{"absurd", absurd, bundle.PolicyPerson, "row 5, column 2 is beyond"},
		{"one", one, bundle.PolicyPerson, "one row, 30 times"},
		{"narrow", mat.DenseCopyOf(good.Slice(0, 30, 0, 2)), bundle.PolicyPerson, "3 columns"},
		{"long", linalg.Uniform(31, 3, rand.NewPCG(1, 2)), bundle.PolicyPerson, "31"},
	} {
		if err := read(tc.name, tc.rows, tc.policy); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}
