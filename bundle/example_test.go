package bundle_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/identity"
	"concord/npy"
	"concord/wire"
)

// A site describes what would leave, a person approves the description, the file is sealed
// once to the analyst, who checks everything before a number is read.
func ExampleSeal() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	site, err := identity.New(identity.RoleParty, "North", nil)
	must(err)
	office, err := identity.New(identity.RoleAnalyst, "Office", nil)
	must(err)
	contract, epoch, anchorID := wire.HashOf([]byte("contract")), wire.HashOf([]byte("epoch")), wire.HashOf([]byte("anchor"))

	sources := bundle.FromMatrix("X", mat.NewDense(2, 2, []float64{1, 2, 3, 4}))
	manifest, err := bundle.Describe(bundle.Draft{
		Header: bundle.Header{Study: contract, Epoch: epoch, Sender: site.Statement.Fingerprint(),
			Recipients: []wire.Hash{office.Statement.Fingerprint()}, Kind: bundle.KindContribution, Round: 1, Number: 1},
		Anchor: &anchorID, Members: sources,
	})
	must(err)
	yes, err := bundle.Approve(manifest.Encode(), site.SigningKey(), bundle.PolicyPerson, time.Now())
	must(err)

	path := filepath.Join(os.TempDir(), "concord-example.bundle")
	f, err := os.Create(path)
	must(err)
	defer os.Remove(path)
	defer f.Close()
	recipient, err := office.Statement.AgeRecipient()
	must(err)
	_, err = bundle.Seal(f, bundle.Sealing{Manifest: manifest, Sources: sources, Approval: yes}, site.SigningKey(), recipient)
	must(err)

	info, err := f.Stat()
	must(err)
	want := bundle.Expect{Study: contract, Epoch: epoch, Kind: bundle.KindContribution, Sender: site.Statement.Fingerprint(),
		SenderKey: site.Statement.SigningKey, Recipient: office.Statement.Fingerprint()}
	r, err := bundle.Open(f, info.Size(), want, office.AgeIdentity())
	must(err)
	x, err := r.Matrix("X", npy.Limits{Cols: 2})
	must(err)
	fmt.Println(x.RawRowView(1), "approved by", r.Approval.Policy)

	want.Epoch = wire.HashOf([]byte("another roster"))
	_, err = bundle.Open(f, info.Size(), want, office.AgeIdentity())
	fmt.Println("of another epoch:", err != nil)
	// Output:
	// [3 4] approved by person
	// of another epoch: true
}
