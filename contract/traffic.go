package contract

import (
	"fmt"
	"math"
)

// Traffic is the communication model of [nosaka2025], section II-C (docs/methods.md section 8): what a
// data collaboration sends, beside federated averaging of the same model. Counts
// are of numbers, without labels, signatures and envelopes.
type Traffic struct {
	// Parties is c.
	Parties int
	// Rows is the mean of nᵢ; AnchorRows is a.
	Rows, AnchorRows float64
	// Features is m, Dim is l.
	Features, Dim int
	// Parameters is N, the numbers of the model.
	Parameters float64
	// Bits of a number, q; zero means 32, the published example's. Concord sends 64.
	Bits int
	// Participation is p, the share of the parties in a round of averaging; zero
	// means 1.
	Participation float64
	// Pooled is how many numbers each party gives to masked sums, in all stages together
	// ([Contract.StageNumbers]); they take 16 bytes each, whatever Bits are.
	Pooled float64
}

// TrafficBytes is what a Traffic comes to, in bytes.
type TrafficBytes struct {
	// Up is what one party sends: (n + a) l q/8.
	Up float64 `json:"up"`
	// Down is what one party gets: (l² + N) q/8.
	Down float64 `json:"down"`
	// AnchorOnce is a m q/8, the anchor as the published total counts it: once.
	AnchorOnce float64 `json:"anchor_once"`
	// AnchorAll is c times that: what a broadcast of the anchor would take.
	AnchorAll float64 `json:"anchor_all"`
	// Setup is what stands in its place in Concord: every party's share of the
	// anchor's seed, one file sealed to all others, up once and down c − 1 times.
	Setup float64 `json:"setup"`
	// Pooling is what masked sums take: every party's numbers, up once and down c − 1 times.
	Pooling float64 `json:"pooling,omitempty"`
	// Total is the published total: all parties' Up and Down and AnchorOnce.
	Total float64 `json:"total"`
	// Concord is all parties' Up and Down, Setup and Pooling.
	Concord float64 `json:"concord"`
	// FedAvgRound is one round of averaging: 2 p c N q/8.
	FedAvgRound float64 `json:"fedavg_round"`
	// BreakEven is R*, the rounds of averaging that send as much as Total.
	BreakEven float64 `json:"break_even_rounds"`
}

// A setup file takes setupFixed bytes, and setupEach for every party it is sealed
// to: what the demonstration's files of 3, 4 and 8 parties have. Post-quantum
// recipients make it so much.
const (
	setupFixed = 1919
	setupEach  = 1691
)

// Bytes computes the model. The error names a count that is not positive.
func (t Traffic) Bytes() (TrafficBytes, error) {
	if t.Bits == 0 {
		t.Bits = 32
	}
	if t.Participation == 0 {
		t.Participation = 1
	}
	for _, v := range []struct {
		name  string
		value float64
	}{
		{"parties", float64(t.Parties)}, {"rows", t.Rows}, {"anchor rows", t.AnchorRows}, {"features", float64(t.Features)},
		{"dim", float64(t.Dim)}, {"parameters", t.Parameters}, {"bits", float64(t.Bits)}, {"participation", t.Participation},
	} {
		if !(v.value > 0) || math.IsInf(v.value, 0) {
			return TrafficBytes{}, fmt.Errorf("contract: %s is %v, must be positive and finite", v.name, v.value)
		}
	}
	if !(t.Pooled >= 0) || math.IsInf(t.Pooled, 0) {
		return TrafficBytes{}, fmt.Errorf("contract: pooled is %v, must be finite and not negative", t.Pooled)
	}
	if t.Participation > 1 {
		return TrafficBytes{}, fmt.Errorf("contract: participation is %v, must be at most 1", t.Participation)
	}
	if t.Dim > t.Features {
		return TrafficBytes{}, fmt.Errorf("contract: dim %d exceeds the %d features", t.Dim, t.Features)
	}
	c, l, number := float64(t.Parties), float64(t.Dim), float64(t.Bits)/8
	b := TrafficBytes{
		Up:          (t.Rows + t.AnchorRows) * l * number,
		Down:        (l*l + t.Parameters) * number,
		AnchorOnce:  t.AnchorRows * float64(t.Features) * number,
		Setup:       c * c * (setupFixed + setupEach*(c-1)),
		Pooling:     c * c * t.Pooled * pooledNumber,
		FedAvgRound: 2 * t.Participation * c * t.Parameters * number,
	}
	b.AnchorAll = c * b.AnchorOnce
	b.Total = c*(b.Up+b.Down) + b.AnchorOnce
	b.Concord = c*(b.Up+b.Down) + b.Setup + b.Pooling
	b.BreakEven = b.Total / b.FedAvgRound
	return b, nil
}
