package contract_test

import (
	"math"
	"strings"
	"testing"

	"concord/contract"
)

// TestTrafficExample is the worked example of [nosaka2025], section II-C: 10.1 GB against 20 GB a
// round of averaging.
func TestTrafficExample(t *testing.T) {
	b, err := contract.Traffic{Parties: 100, Rows: 1000, AnchorRows: 1000, Features: 784, Dim: 100, Parameters: 2.5e7}.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"up", b.Up, 2000 * 100 * 4},
		{"down", b.Down, (100*100 + 2.5e7) * 4},
		{"anchor once", b.AnchorOnce, 1000 * 784 * 4},
		{"total", b.Total, 100*(2000*100*4+(1e4+2.5e7)*4) + 1000*784*4},
		{"round", b.FedAvgRound, 2 * 100 * 2.5e7 * 4},
		{"rounds", b.BreakEven, (2000*100+1e4+2.5e7)/(2*2.5e7) + 1000*784/(2*100*2.5e7)},
	} {
		if math.Abs(c.got-c.want) > 1e-12*c.want {
			t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
		}
	}
	if got := math.Round(b.Total/1e8) / 10; got != 10.1 {
		t.Errorf("total is %v GB, published 10.1", got)
	}
	if b.FedAvgRound != 20e9 {
		t.Errorf("a round is %v, published 20 GB", b.FedAvgRound)
	}
}

func TestTrafficRefuses(t *testing.T) {
	good := contract.Traffic{Parties: 3, Rows: 10, AnchorRows: 10, Features: 5, Dim: 2, Parameters: 3}
	for _, c := range []struct {
		change func(*contract.Traffic)
		want   string
	}{
		{func(t *contract.Traffic) { t.Parties = 0 }, "parties is 0"},
		{func(t *contract.Traffic) { t.Rows = math.NaN() }, "rows is NaN"},
		{func(t *contract.Traffic) { t.AnchorRows = math.Inf(1) }, "anchor rows is +Inf"},
		{func(t *contract.Traffic) { t.Participation = 1.5 }, "must be at most 1"},
		{func(t *contract.Traffic) { t.Dim = 6 }, "dim 6 exceeds the 5 features"},
		{func(t *contract.Traffic) { t.Bits = -1 }, "bits is -1"},
		{func(t *contract.Traffic) { t.Pooled = -1 }, "pooled is -1"},
	} {
		bad := good
		c.change(&bad)
		if _, err := bad.Bytes(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", bad, err, c.want)
		}
	}
}

// TestTrafficPooled: masked sums go up once and down to every other party.
func TestTrafficPooled(t *testing.T) {
	plain := contract.Traffic{Parties: 4, Rows: 10, AnchorRows: 10, Features: 5, Dim: 2, Parameters: 3}
	pooled := plain
	pooled.Pooled = 21
	a, err := plain.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b, err := pooled.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if b.Pooling != 16*21*16 || b.Concord-a.Concord != b.Pooling || a.Pooling != 0 || b.Total != a.Total {
		t.Errorf("without masked sums %+v, with them %+v", a, b)
	}
}
