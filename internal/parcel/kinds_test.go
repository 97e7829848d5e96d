package parcel_test

import (
	"slices"
	"testing"

	"concord/internal/parcel"
)

// TestKnownKinds: only what a newer program may say is called unknown.
func TestKnownKinds(t *testing.T) {
	var p parcel.Parcel
	for _, kind := range []string{
		parcel.KindStatement, parcel.KindProof, parcel.KindContract, parcel.KindRoster, parcel.KindStatus, parcel.KindConfirmation, parcel.KindReceipt,
		parcel.KindBundle, parcel.KindWitness, parcel.KindAmendment, parcel.KindLeft, parcel.KindHolds, "newer", "newer",
	} {
		p.Items = append(p.Items, parcel.Item{Kind: kind})
	}
	if got := p.Unknown(); !slices.Equal(got, []string{"newer"}) {
		t.Errorf("unknown: %q, want the newer one only", got)
	}
}
