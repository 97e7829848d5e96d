package profile

import (
	"math"
	"math/rand/v2"
	"testing"

	"concord/contract"
)

// side draws n values of exp(μ + σN) or μ + σN.
func drawSide(rng *rand.Rand, n int, draw func() float64) ([]float64, Side) {
	x := make([]float64, n)
	for i := range x {
		x[i] = draw()
	}
	return x, sideOf(x)
}

func sideOf(x []float64) Side {
	m := moments(x)
	return Side{N: float64(m.N()), Mean: m.Mean(), Variance: m.Variance()}
}

// Two sides together less one are the other.
func TestWithout(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		own, rest := make([]float64, 1+rng.IntN(40)), make([]float64, 2+rng.IntN(400))
		shift := 1e3 * rng.NormFloat64()
		for i := range own {
			own[i] = 5*rng.NormFloat64() + shift
		}
		for i := range rest {
			rest[i] = 3 * rng.NormFloat64()
		}
		got, ok := sideOf(append(append([]float64{}, own...), rest...)).Without(sideOf(own))
		want := sideOf(rest)
		// The error is that of the pooled scatter: 1e-16 of (shift/3)², a million at most.
		if !ok || got.N != want.N || math.Abs(got.Mean-want.Mean) > 1e-9*math.Abs(shift)+1e-9 || !near(got.Variance, want.Variance, 1e-8) {
			t.Fatalf("%d and %d values: rest %+v, %v; want %+v", len(own), len(rest), got, ok, want)
		}
	}
	a := Side{N: 10, Mean: 3, Variance: 2}
	for _, pooled := range []Side{a, {N: 11, Mean: 3, Variance: 2}, {N: 5, Mean: 3, Variance: 2}, {N: 40, Mean: 3, Variance: 1e-9}} {
		if rest, ok := pooled.Without(a); ok {
			t.Errorf("%+v without %+v is %+v", pooled, a, rest)
		}
	}
	if rest, ok := a.Without(Side{}); !ok || rest != a {
		t.Errorf("without nothing: %+v", rest)
	}
}

// columns are kinds of columns as clinics have them, by what is drawn.
var columns = []struct {
	name, unit string
	draw       func(rng *rand.Rand) float64
}{
	{"age", "years", func(rng *rand.Rand) float64 { return 62 + 17*rng.NormFloat64() }},
	{"weight", "kg", func(rng *rand.Rand) float64 { return 80 + 20*rng.NormFloat64() }},
	{"temperature", "°C", func(rng *rand.Rand) float64 { return 36.8 + 0.7*rng.NormFloat64() }},
	{"glucose", "mg/dl", func(rng *rand.Rand) float64 { return math.Exp(4.8 + 0.4*rng.NormFloat64()) }},
	{"creatinine", "mg/dl", func(rng *rand.Rand) float64 { return math.Exp(0.1 + 0.7*rng.NormFloat64()) }},
	{"crp", "mg/l", func(rng *rand.Rand) float64 { return math.Exp(3 + 1.2*rng.NormFloat64()) }},
	{"sodium", "mmol/l", func(rng *rand.Rand) float64 { return 139 + 4*rng.NormFloat64() }},
	{"score", "", func(rng *rand.Rand) float64 { return rng.ExpFloat64() }},
	{"balance", "", func(rng *rand.Rand) float64 { return 2 * rng.NormFloat64() }},
}

// Honest sites: of each kind of column, sites whose means differ with half a deviation
// and whose deviations with a factor of e^0.4, as the rule assumes, of twenty to
// two thousand rows. Under the assumptions the chance of an alarm is at most 4e-6 a column
// beside what small samples of skewed columns add; 18,000 columns with three alarms or
// more would then be seen with probability 6e-5 (Poisson, mean 0.07). The seed is fixed:
// this passes always or never.
func TestHonestSites(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	alarms := 0
	for _, c := range columns {
		all, base := drawSide(rng, 20000, func() float64 { return c.draw(rng) })
		s := math.Sqrt(base.Variance)
		for range 2000 {
			x := make([]float64, 10+int(math.Exp(5.3*rng.Float64()))*10)
			stretch, shift := math.Exp(betweenDeviations*rng.NormFloat64()), betweenMeans*s*rng.NormFloat64()
			for i := range x {
				x[i] = base.Mean + shift + stretch*(all[rng.IntN(len(all))]-base.Mean)
			}
			if f := AgainstRest(contract.Feature{Name: c.name, Type: "numeric", Unit: c.unit}, sideOf(x), base); f != nil {
				alarms++
				t.Logf("%s, %d rows, shift %.2f, stretch %.2f: evidence %.2f", c.name, len(x), shift/s, stretch, f.Evidence)
			}
		}
	}
	if alarms > 2 {
		t.Errorf("%d alarms at 18000 columns of honest sites, want 2 at most", alarms)
	}
}

// Sites in another unit, with the same differences between sites: nearly all of them are
// found where the unit changes the column beyond what sites differ by.
// Where several conversions are as near, the right one is named in four of five at least.
func TestSitesInOtherUnits(t *testing.T) {
	for _, c := range []struct {
		column string
		with   Conversion
		least  float64 // share that must be found
	}{
		{"weight", Conversion{Factor: 2.2046226}, 0.8},
		{"weight", Conversion{Factor: 1 / 2.2046226}, 0.8},
		{"weight", Conversion{Factor: 1000}, 0.95},
		{"temperature", Conversion{Factor: 1.8, Offset: 32}, 0.95},
		{"temperature", Conversion{Factor: 1, Offset: 273.15}, 0.95},
		{"glucose", Conversion{Factor: 1 / 18.016}, 0.95},
		{"creatinine", Conversion{Factor: 88.42}, 0.95},
		{"creatinine", Conversion{Factor: 1000}, 0.95},
		{"crp", Conversion{Factor: 0.1}, 0.75},
		{"crp", Conversion{Factor: 1. / 1000}, 0.95},
		{"age", Conversion{Factor: 12}, 0.95},
		{"age", Conversion{Factor: 365.25}, 0.95},
		{"sodium", Conversion{Factor: 0.001}, 0.95},
		{"score", Conversion{Factor: 100}, 0.95},
		{"balance", Conversion{Factor: 1000}, 0.95},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		for _, of := range columns {
			if of.name != c.column {
				continue
			}
			all, base := drawSide(rng, 20000, func() float64 { return of.draw(rng) })
			s, found, right := math.Sqrt(base.Variance), 0, 0
			const sites = 400
			for range sites {
				x := make([]float64, 100)
				stretch, shift := math.Exp(0.2*rng.NormFloat64()), 0.3*s*rng.NormFloat64()
				for i := range x {
					x[i] = c.with.Factor*(base.Mean+shift+stretch*(all[rng.IntN(len(all))]-base.Mean)) + c.with.Offset
				}
				f := AgainstRest(contract.Feature{Name: of.name, Type: "numeric", Unit: of.unit}, sideOf(x), base)
				if f == nil {
					continue
				}
				found++
				for _, conversion := range f.Conversions {
					if near(conversion.Factor, c.with.Factor, 1e-6) && math.Abs(conversion.Offset-c.with.Offset) < 1e-6 {
						right++
					}
				}
			}
			t.Logf("%s × %.4g + %g: %d of %d found, %d named", c.column, c.with.Factor, c.with.Offset, found, sites, right)
			if float64(found) < c.least*sites || float64(right) < 0.8*float64(found) {
				t.Errorf("%s × %.4g + %g: %d of %d found, %d of them named", c.column, c.with.Factor, c.with.Offset, found, sites, right)
			}
		}
	}
}

func TestAgainstRange(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		name, unit string
		r          contract.Range
		draw       func() float64
		want       float64 // the factor of one of the conversions, 0 for no suspicion
	}{
		{"height", "cm", contract.Range{Min: 50, Max: 250}, func() float64 { return 1.7 + 0.1*rng.NormFloat64() }, 0.01},
		{"height", "cm", contract.Range{Min: 50, Max: 250}, func() float64 { return 170 + 10*rng.NormFloat64() }, 0},
		{"temperature", "°C", contract.Range{Min: 25, Max: 45}, func() float64 { return 98.6 + rng.NormFloat64() }, 1.8},
		{"weight", "g", contract.Range{Min: 200, Max: 300_000}, func() float64 { return 70 + 10*rng.NormFloat64() }, 0.001},
		{"saturation", "%", contract.Range{Min: 0, Max: 100}, func() float64 { return 0.9 + 0.05*rng.Float64() }, 0.01},
		{"saturation", "%", contract.Range{Min: 0, Max: 100}, func() float64 { return 90 + 5*rng.Float64() }, 0},
		{"dose", "µg", contract.Range{Min: 0, Max: 5e6}, func() float64 { return 5 * rng.Float64() }, 1e-6},
		{"off", "", contract.Range{Min: 1e6, Max: 2e6}, func() float64 { return -rng.Float64() }, 0},
	} {
		var m Moments
		outside := int64(0)
		for range 200 {
			x := c.draw()
			m.Add(x)
			if x < c.r.Min || x > c.r.Max {
				outside++
			}
		}
		s := AgainstRange(contract.Feature{Name: c.name, Type: "numeric", Unit: c.unit, Range: &c.r}, &m, outside)
		found := s == nil && c.want == 0
		if s != nil {
			for _, conversion := range s.Conversions {
				found = found || near(conversion.Factor, c.want, 1e-12)
			}
		}
		if !found {
			t.Errorf("%s in %s: %+v, want the factor %v", c.name, c.unit, s, c.want)
		}
	}
}

func TestFlipped(t *testing.T) {
	for _, c := range []struct {
		own, rest [2]float64
		want      bool
	}{
		{[2]float64{5, 95}, [2]float64{950, 50}, true},
		{[2]float64{95, 5}, [2]float64{950, 50}, false},
		{[2]float64{50, 50}, [2]float64{520, 480}, false},
		{[2]float64{40, 60}, [2]float64{600, 400}, false}, // too near to tell
		{[2]float64{0, 100}, [2]float64{990, 10}, true},
		{[2]float64{1, 4}, [2]float64{990, 10}, false}, // too few
	} {
		if evidence, got := Flipped(c.own, c.rest); got != c.want {
			t.Errorf("%v against %v: %v with evidence %.2f, want %v", c.own, c.rest, got, evidence, c.want)
		}
	}
}

func TestQuantityOf(t *testing.T) {
	for unit, want := range map[string]quantity{
		"": anything, " kg": mass, "°C": temperature, "mg/dL": concentration, "µmol/l": concentration, "umol/L": concentration, "mmHg": pressure,
		"beats/min": other, "10^9/l": other, "years": duration, "%": share, "cm": length,
	} {
		if got := quantityOf(unit); got != want {
			t.Errorf("%q is quantity %d, want %d", unit, got, want)
		}
	}
}
