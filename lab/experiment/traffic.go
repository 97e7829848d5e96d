package experiment

import (
	"slices"

	"concord/contract"
)

// Traffic is a worked example of the communication model.
type Traffic struct {
	Name          string  `yaml:"name"`
	Parties       int     `yaml:"parties"`
	Rows          float64 `yaml:"rows"`
	AnchorRows    float64 `yaml:"anchor_rows"`
	Features      int     `yaml:"features"`
	Dim           int     `yaml:"dim"`
	Parameters    float64 `yaml:"parameters"`
	Bits          int     `yaml:"bits"`
	Participation float64 `yaml:"participation"`
	// Published figures in bytes, by the names that contract.TrafficBytes has in JSON.
	Published map[string]float64 `yaml:"published"`
}

// TrafficResult is what it comes to.
type TrafficResult struct {
	Traffic
	contract.TrafficBytes
}

func (t Traffic) result() (TrafficResult, error) {
	b, err := contract.Traffic{
		Parties: t.Parties, Rows: t.Rows, AnchorRows: t.AnchorRows, Features: t.Features, Dim: t.Dim, Parameters: t.Parameters,
		Bits: t.Bits, Participation: t.Participation,
	}.Bytes()
	return TrafficResult{t, b}, err
}

// named are the figures by their names, in the order of the model.
func (t TrafficResult) named() ([]string, map[string]float64) {
	names := []string{"up", "down", "anchor_once", "anchor_all", "setup", "total", "concord", "fedavg_round", "break_even_rounds"}
	values := []float64{t.Up, t.Down, t.AnchorOnce, t.AnchorAll, t.Setup, t.Total, t.Concord, t.FedAvgRound, t.BreakEven}
	m := map[string]float64{}
	for i, n := range names {
		m[n] = values[i]
	}
	return slices.Clone(names), m
}
