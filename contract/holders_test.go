package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/release"
	"concord/wire"
)

// pooledViews is the contract of two views with pooled figures, of eight parties.
func pooledViews(t *testing.T, more string) *contract.Contract {
	t.Helper()
	text := strings.Replace(viewed, "parties: 4", "parties: 8", 1) + "standardise: pooled\n" + more
	c, err := contract.ParseYAML([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// withViews are parties' statements, one for each view.
func withViews(t *testing.T, views ...string) []*identity.Statement {
	t.Helper()
	var out []*identity.Statement
	for i, view := range views {
		id, err := identity.New(identity.RoleParty, fmt.Sprintf("Site %d", i+1), nil)
		if err != nil {
			t.Fatal(err)
		}
		if id, err = id.WithView(view); err != nil {
			t.Fatal(err)
		}
		out = append(out, id.Statement)
	}
	return out
}

// TestHoldings: figures are pooled only where three parties beyond the colluders have each
// view, and a party's statement says which one it has.
func TestHoldings(t *testing.T) {
	c := pooledViews(t, "")
	if !c.StatesViews() || viewedContract(t, "").StatesViews() {
		t.Error("who must state its view is not said right")
	}
	enough := strings.Fields("ward lab ward lab ward lab ward lab")
	for _, test := range []struct {
		views     []string
		colluders int
		want      string
	}{
		{enough, 1, ""},
		{append(slices.Clone(enough), "ward"), 1, ""},
		{append(slices.Clone(enough[:7]), "ward"), 1, `3 sites have the view "lab" (age, crp, wbc), and pooled figures need 4 at least`},
		{strings.Fields("ward ward ward ward ward ward lab lab"), 1, "would show the figures of 2 beside one that may collude"},
		{strings.Fields("ward ward ward ward ward ward ward lab"), 1, `1 site has the view "lab"`},
		{strings.Fields("ward ward ward ward ward ward ward ward"), 1, `0 sites have the view "lab"`},
		{enough, 2, "pooled figures need 5 at least"},
		{append(slices.Clone(enough[:7]), ""), 1, `"Site 8" does not say which view`},
		{append(slices.Clone(enough[:7]), "kitchen"), 1, `"Site 8" says that it has the view "kitchen"; the contract has ward, lab`},
	} {
		c.Pooling.Colluders = test.colluders
		err := c.CheckHoldings(withViews(t, test.views...))
		if got := fmt.Sprint(err); (err == nil) != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%v: %v, want %q", test.views, err, test.want)
		}
	}
	// A contract without views, or that pools nothing, asks nothing of anybody.
	plain := viewedContract(t, "")
	if err := plain.CheckHoldings(withViews(t, "", "ward")); err != nil {
		t.Error(err)
	}
	none, err := contract.ParseYAML([]byte("name: T\nparties: 4\nfeatures: [a, b]\nlabel: {name: y, levels: [n, p], positive: p}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := none.CheckView(withViews(t, "ward")[0]); err == nil || !strings.Contains(err.Error(), "the contract has no views") {
		t.Errorf("a view of none: %v", err)
	}
	// Two views of the same features and different width are one to sums.
	twins := pooledViews(t, "")
	twins.Views = append(twins.Views, contract.View{Name: "wide ward", Features: twins.Views[0].Features, Dim: 2})
	if err := twins.CheckHoldings(withViews(t, "ward", "ward", "wide ward", "wide ward", "lab", "lab", "lab", "lab")); err != nil {
		t.Error(err)
	}
	// Nobody learns how many rows the few have that take part with the other width.
	if n := twins.StageNumbers(twins.Stages()[0]); n != 1+2+5+3*4+3 {
		t.Errorf("figures of twins are %d numbers", n)
	}
	if h := twins.Holdings(nil); len(h) != 2 || h[0].Name() != `views "ward", "wide ward"` || h[1].Name() != "view lab" {
		t.Errorf("holdings of twins: %+v", h)
	}
	f := &contract.Figures{Version: 1, Sites: 8, Rows: 100, Views: []int64{60, 40}, Features: []contract.FeatureFigures{
		{Count: 100}, {Count: 60, Levels: []int64{30, 30, 0}}, {Count: 60}, {Count: 40}, {Count: 40},
	}}
	if err := f.Check(twins); err != nil {
		t.Error(err)
	}
	f.Views = []int64{50, 40, 10}
	if f.Check(twins) == nil {
		t.Error("rows of each of two views with the same features are taken")
	}
}

// TestPooledViewsContract: a contract that could never have enough sites is refused when it is
// made, and what it pools is counted.
func TestPooledViewsContract(t *testing.T) {
	c := pooledViews(t, "")
	// rows, two views; missing of 5 features, 3 numbers of 4 with a range, 3 levels of one.
	if n := c.StageNumbers(c.Stages()[0]); n != 1+2+5+3*4+3 {
		t.Errorf("figures are %d numbers", n)
	}
	if said := release.Describe(c); !strings.Contains(said, "4 sites at least must have each view") {
		t.Errorf("the description does not say how many sites must have a view: %s", said)
	} else if !strings.Contains(said, "1 colluding learn the totals of the others together, of 3 parties with the same view at least") {
		t.Errorf("the description counts parties that lack the feature: %s", said)
	}
	for _, test := range []struct{ from, to, want string }{
		{"parties: 4", "parties: 7", "views of 2 different sets of features, each of which 4 sites at least must have (three beyond pooling.colluders), and parties is 7, below 8"},
		{"parties: 4", "parties: 9\npooling: {colluders: 2}", "parties is 9, below 10"},
		{"parties: 4", "parties: 8\nbasis: {kind: common}", "no party could project on them"},
	} {
		_, err := contract.ParseYAML([]byte(strings.Replace(viewed, test.from, test.to, 1) + "standardise: pooled\n"))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.to, err, test.want)
		}
	}
	gaussian, err := contract.ParseYAML([]byte(strings.Replace(strings.Replace(viewed, "parties: 4", "parties: 8", 1), "kind: normal", "kind: gaussian", 1)))
	if err != nil || len(gaussian.Stages()) != 2 {
		t.Errorf("a gaussian anchor over views: %v", err)
	}
}

// TestRowsOfViews: how many rows have a feature, or two together, and figures that do not
// fit it are refused.
func TestRowsOfViews(t *testing.T) {
	c := pooledViews(t, "")
	good := func() *contract.Figures {
		return &contract.Figures{Version: 1, Sites: 8, Rows: 100, Views: []int64{60, 40}, Features: []contract.FeatureFigures{
			{Count: 90, Missing: 10}, {Count: 60, Levels: []int64{30, 30, 0}}, {Count: 60}, {Count: 40}, {Count: 40},
		}}
	}
	f := good()
	if err := f.Check(c); err != nil {
		t.Fatal(err)
	}
	rows := f.RowsOfBoth(c)
	for _, test := range []struct {
		a, b int
		want int64
	}{{0, 0, 100}, {0, 1, 60}, {1, 2, 60}, {0, 4, 40}, {3, 4, 40}, {1, 3, 0}, {4, 2, 0}} {
		if got := rows(test.a, test.b); got != test.want {
			t.Errorf("features %d and %d have %d rows together, want %d", test.a, test.b, got, test.want)
		}
	}
	lab, err := c.Through("lab")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.RowsOfBoth(lab)(0, 1); got != 40 {
		t.Errorf("through a view: %d rows", got)
	}
	for name, spoil := range map[string]func(*contract.Figures){
		"no views":                func(f *contract.Figures) { f.Views = nil },
		"a view too few":          func(f *contract.Figures) { f.Views = f.Views[:1] },
		"not all rows":            func(f *contract.Figures) { f.Views[0]-- },
		"a negative view":         func(f *contract.Figures) { f.Views = []int64{140, -40} },
		"more than the view has":  func(f *contract.Figures) { f.Features[3].Count++ },
		"fewer than the view has": func(f *contract.Figures) { f.Features[2].Count-- },
	} {
		f := good()
		spoil(f)
		if f.Check(c) == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// TestStatedView: the view is in what a statement signs, stays through new keys and the
// stored identity, and nobody but a party has one.
func TestStatedView(t *testing.T) {
	id, err := identity.New(identity.RoleParty, "North", nil)
	if err != nil {
		t.Fatal(err)
	}
	ward, err := id.WithView("ward")
	if err != nil {
		t.Fatal(err)
	}
	again, err := identity.DecodeStatement(ward.Statement.Encode())
	if err != nil || again.View != "ward" || again.Fingerprint() == id.Statement.Fingerprint() {
		t.Fatalf("%v, %v", again, err)
	}
	forged := *ward.Statement
	forged.View = "lab"
	if _, err := identity.DecodeStatement(forged.Encode()); err == nil {
		t.Error("a view that was not signed is read")
	}
	stored, err := ward.EncodeSecret()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := identity.Decode(stored); err != nil || back.Statement.View != "ward" {
		t.Errorf("the stored identity: %v", err)
	}
	if _, err := id.WithView("two\nlines"); err == nil {
		t.Error("a view of two lines is taken")
	}
	analyst, err := identity.New(identity.RoleAnalyst, "Office", nil)
	if err != nil {
		t.Fatal(err)
	}
	if analyst, err = analyst.WithView("ward"); err != nil {
		t.Fatal(err)
	}
	if _, err := identity.DecodeStatement(analyst.Statement.Encode()); err == nil || !strings.Contains(err.Error(), "has no view") {
		t.Errorf("an analyst with a view: %v", err)
	}
}

// TestViewStays: new keys keep the view, and who comes after setup names one.
func TestViewStays(t *testing.T) {
	c := pooledViews(t, "")
	hash := wire.Hash{1}
	office, err := identity.New(identity.RoleAnalyst, "Office", nil)
	if err != nil {
		t.Fatal(err)
	}
	members := withViews(t, strings.Fields("ward ward ward ward lab lab lab lab")...)
	r, err := member.NewRoster(c, 1, append(slices.Clone(members), office.Statement))
	if err != nil {
		t.Fatal(err)
	}
	chain := member.NewChain(c, hash, r)
	fresh, err := identity.New(identity.RoleParty, "Site 1", nil)
	if err != nil {
		t.Fatal(err)
	}
	for view, want := range map[string]string{"ward": "", "lab": "it changes the name, the approver or the view", "": "does not say which view", "kitchen": "the contract has ward, lab"} {
		next, err := fresh.WithView(view)
		if err != nil {
			t.Fatal(err)
		}
		_, err = chain.Propose(member.AmendRekey, members[0].Fingerprint(), next.Statement, "")
		if got := fmt.Sprint(err); (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("new keys with the view %q: %v, want %q", view, err, want)
		}
	}
	late := withViews(t, strings.Fields("w w w w w w w w lab")...)[8]
	if _, err := chain.Propose(member.AmendAdd, wire.Hash{}, late, ""); err != nil {
		t.Error(err)
	}
	if _, err := chain.Propose(member.AmendAdd, wire.Hash{}, withViews(t, strings.Fields("w w w w w w w w kitchen")...)[8], ""); err == nil {
		t.Error("a late party of no view of the contract is proposed")
	}
}
