package party_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/linalg"
	"concord/party"
	"concord/pooled"
	"concord/privacy"
	"concord/secret"
	"concord/table"
	"concord/wire"
)

const commonYAML = `
name: Test
parties: 4
features:
  - {name: a, range: [0, 10], missing: mean}
  - {name: b, range: [-1, 1]}
  - {name: c, range: [100, 200]}
  - {name: d, range: [0, 1]}
  - {name: ward, type: category, levels: [A, B, C]}
label: {name: y, levels: [no, yes], positive: yes}
standardise: pooled
basis: {kind: common, dim: 3}
max_rows: 10000
`

const commonNRI = `anchor: {kind: normal}
protocol: nri
answers: soft
local_model: {kind: ridge}
`

// four reads the tables of four parties, each with wards and values of its own kind, and
// pools them.
func four(t *testing.T, more string) (*contract.Contract, []*table.Table, party.Agreed) {
	t.Helper()
	c, err := contract.ParseYAML([]byte(commonYAML + more))
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	var tables []*table.Table
	var rows []pooled.Rows
	for i := range 4 {
		var b strings.Builder
		b.WriteString("a,b,c,d,ward,y\n")
		for r := range 60 {
			a := fmt.Sprintf("%g", 2*float64(i)+2*rnd.Float64())
			if rnd.Float64() < 0.1 {
				a = ""
			}
			d := rnd.Float64()
			fmt.Fprintf(&b, "%s,%g,%g,%g,%c,%s\n", a, (2*rnd.Float64()-1)/2+d/2, 100+10*float64(i)+60*rnd.Float64(), d, 'A'+rune(rnd.IntN(3)), []string{"no", "yes"}[r%2])
		}
		tables = append(tables, read(t, c, b.String()))
		rows = append(rows, pooled.MatrixRows(tables[i].X().Reveal()))
	}
	p, err := pooled.InClear(c, seed(t), rows)
	if err != nil {
		t.Fatal(err)
	}
	return c, tables, party.Agreed{Seed: seed(t), Figures: p.Figures(), Directions: p.V()}
}

// TestCommon holds that all parties' bases of kind common have V's span and are not V nor
// each other's, under both protocols, and what the report says.
func TestCommon(t *testing.T) {
	for protocol, more := range map[string]string{"dc": "", "nri": commonNRI} {
		c, tables, agreed := four(t, more)
		v := agreed.Directions.Reveal()
		var all, last mat.Dense
		all.CloneFrom(v)
		for i, tab := range tables {
			// A source of its own for each, always the same: two mixes of three directions
			// look alike by chance now and then.
			src := rand.NewChaCha8([32]byte{protocol[0], byte(i)})
			made, err := party.Prepare(c, tab, party.EffectiveFloors(c, nil), agreed, src)
			if err != nil {
				t.Fatal(protocol, err)
			}
			a, _, err := linalg.Pinv(anchorOf(t, c, agreed), 0)
			if err != nil {
				t.Fatal(err)
			}
			var f, e, gram mat.Dense
			f.Mul(a, made.A) // what the analyst and a party know of the basis
			e.Mul(v.T(), &f)
			gram.Mul(e.T(), &e)
			for k := range 3 {
				gram.Set(k, k, gram.At(k, k)-1)
			}
			// F = V E with E orthogonal, up to the pseudo-inverse's rounding.
			var back mat.Dense
			back.Mul(v, &e)
			back.Sub(&back, &f)
			if mat.Norm(&back, 2) > 1e-10 || mat.Norm(&gram, 2) > 1e-10 {
				t.Errorf("%s, party %d: F is off V's span by %g, E off orthogonal by %g", protocol, i+1, mat.Norm(&back, 2), mat.Norm(&gram, 2))
			}
			if mat.EqualApprox(&f, v, 1e-3) || i > 0 && mat.EqualApprox(&f, &last, 1e-3) {
				t.Errorf("%s, party %d: F is V itself or another party's", protocol, i+1)
			}
			last.CloneFrom(&f)
			var names []string
			for _, found := range made.Report.Findings {
				names = append(names, found.Name)
				if found.Name == "common-directions" && (found.Value <= 0 || found.Value > 1) {
					t.Errorf("%+v", found)
				}
				if found.Name == "regenerated-basis" && found.Warn {
					t.Errorf("%s: %+v", protocol, found)
				}
			}
			for _, want := range []string{"common-directions", "reconstruction", "eps-dr"} {
				if !slices.Contains(names, want) {
					t.Errorf("%s: no finding %s", protocol, want)
				}
			}
			if protocol == "nri" && made.Basis != nil {
				t.Error("the basis is kept under nri")
			}
			if made.Report.Energy <= 0 || made.Anchor != agreed.ID(c) || made.Anchor == wire.Hash(agreed.Seed.ID()) {
				t.Errorf("%s: energy %g, anchor id %s", protocol, made.Report.Energy, made.Anchor)
			}
		}
	}
}

func anchorOf(t *testing.T, c *contract.Contract, agreed party.Agreed) *mat.Dense {
	t.Helper()
	a, err := agreed.AnchorForTest(c)
	if err != nil {
		t.Fatal(err)
	}
	return a.Reveal()
}

// TestCommonEps holds that the floor of eps drops rows that V keeps whole.
func TestCommonEps(t *testing.T) {
	c, tables, agreed := four(t, "")
	prep, err := c.Preparation(agreed.Figures)
	if err != nil {
		t.Fatal(err)
	}
	dr, err := privacy.DR(tables[0].Prepared(prep).Reveal(), agreed.Directions.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Clone(dr)
	slices.Sort(sorted)
	floor := (sorted[4] + sorted[5]) / 2 // five rows are below
	made, err := party.Prepare(c, tables[0], party.EffectiveFloors(c, &contract.Policy{Eps: floor}), agreed, basis.NewSource())
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := made.X.Dims(); n != len(dr)-5 || made.Report.Dropped != 5 || made.Report.Eps < floor {
		t.Errorf("%d of %d rows leave, dropped %d, eps %g", n, len(dr), made.Report.Dropped, made.Report.Eps)
	}
}

// TestCommonAgreed holds that nothing is prepared without what the contract pools, and
// that the anchor's id tells other figures and other directions.
func TestCommonAgreed(t *testing.T) {
	c, tables, agreed := four(t, "")
	floors := party.EffectiveFloors(c, nil)
	without := agreed
	without.Figures = nil
	if _, err := party.Prepare(c, tables[0], floors, without, basis.NewSource()); err == nil || !strings.Contains(err.Error(), "pooled figures") {
		t.Error(err)
	}
	without = agreed
	without.Directions = secret.Matrix{}
	if _, err := party.Prepare(c, tables[0], floors, without, basis.NewSource()); err == nil || !strings.Contains(err.Error(), "0 common directions for a basis of dimension 3") {
		t.Error(err)
	}
	narrow := agreed
	narrow.Directions = secret.NewMatrix(linalg.Stiefel(c.M()-1, 3, rand.NewPCG(1, 1)))
	if _, err := party.Prepare(c, tables[0], floors, narrow, basis.NewSource()); err == nil || !strings.Contains(err.Error(), "shared directions are 6 × 3, the rows have 7 columns") {
		t.Error(err)
	}
	turned := agreed
	turned.Directions = secret.NewMatrix(linalg.Stiefel(c.M(), 3, rand.NewPCG(1, 1)))
	if turned.ID(c) == agreed.ID(c) {
		t.Error("other directions have the same id")
	}
	other := *agreed.Figures
	other.Features = slices.Clone(other.Features)
	other.Features[1].Mean += 1e-12
	changed := agreed
	changed.Figures = &other
	if changed.ID(c) == agreed.ID(c) {
		t.Error("other figures have the same id")
	}
}
