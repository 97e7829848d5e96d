package release

import (
	"fmt"

	"concord/wire"
)

// MaxOutcomeBytes bounds an encoded outcome.
const MaxOutcomeBytes = 1 << 20

// Outcome is what the analyst tells about the trained model; it is the member
// metrics.json of a result.
type Outcome struct {
	Format int `json:"format"`
	// Rows is how many rows of all parties trained the model.
	Rows int `json:"rows"`
	// Metrics are the contract's, by cross-validation over those rows.
	Metrics []Metric `json:"metrics"`
	// Notes are what people should know: rank deficiencies, models that did
	// not converge, metrics that could not be computed.
	Notes []string `json:"notes,omitempty"`
}

// Metric is one figure of a trained model.
type Metric struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Encode returns the canonical encoding. It fails on a figure that is not
// finite.
func (o *Outcome) Encode() ([]byte, error) { return wire.Canonical(o) }

// DecodeOutcome reads what Encode wrote.
func DecodeOutcome(b []byte) (*Outcome, error) {
	if len(b) > MaxOutcomeBytes {
		return nil, fmt.Errorf("release: an outcome has %d bytes, at most %d are read", len(b), MaxOutcomeBytes)
	}
	o := new(Outcome)
	if err := wire.DecodeFormat(b, "release: outcome", o, &o.Format); err != nil {
		return nil, err
	}
	return o, nil
}
