package contract_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	anchorspec "concord/anchor/spec"
	basisspec "concord/basis/spec"
	"concord/contract"
	"concord/learn"
	"concord/release"
)

const smallYAML = `
name: Readmission
parties: 3
features:
  - {name: age, unit: years, range: [0, 120]}
  - {name: weight, unit: kg, range: [1, 300]}
  - name: pressure
    unit: mmHg
    range: [40, 260]
label: {name: outcome, levels: ["0", "1"], positive: "1"}
`

func TestDefaults(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML))
	if err != nil {
		t.Fatal(err)
	}
	want := &contract.Contract{
		Format: 1, Name: "Readmission", Protocol: "dc", Parties: 3,
		Features: []contract.Feature{
			{Name: "age", Type: "numeric", Unit: "years", Range: &contract.Range{Min: 0, Max: 120}},
			{Name: "weight", Type: "numeric", Unit: "kg", Range: &contract.Range{Min: 1, Max: 300}},
			{Name: "pressure", Type: "numeric", Unit: "mmHg", Range: &contract.Range{Min: 40, Max: 260}},
		},
		Label:       contract.Label{Name: "outcome", Type: "class", Levels: []string{"0", "1"}, Positive: "1"},
		Standardise: "range",
		Anchor:      anchorspec.Spec{Kind: "orthonormal", Rows: 3},
		Basis:       basisspec.Spec{Kind: "pca", Dim: 2},
		Alignment:   contract.Alignment{Method: "odc", Target: "identity"},
		Model:       contract.Model{Kind: "logistic", C: 1, MaxIter: 1000},
		Metrics:     []string{"roc_auc", "accuracy"},
		Floors:      contract.Floors{Rows: 10, PerClass: 3},
		MaxRows:     1_000_000,
		// a·l = 6 numbers up, 3 a row, l² + (l+1)·2 = 10 down, 8 bytes each
		Expect: contract.Expect{Visits: 4, UpBytes: 48, UpBytesPerRow: 24, DownBytes: 80},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	p, err := c.Preparation(nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{60, 150.5, 150}, p.Centre); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{60, 149.5, 110}, p.Scale); diff != "" {
		t.Error(diff)
	}
}

// TestExamples: the files that the README points to are contracts.
func TestExamples(t *testing.T) {
	for _, name := range []string{"every-key.yaml", "clinics/study.yaml"} {
		b, err := os.ReadFile(filepath.Join("..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := contract.ParseYAML(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDocumentedContract: the example of docs/contract.md is a contract, and the page
// names every key that is read.
func TestDocumentedContract(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	_, example, _ := strings.Cut(page, "```yaml\n")
	example, _, found := strings.Cut(example, "```\n")
	if !found {
		t.Fatal("there is no example")
	}
	if _, err := contract.ParseYAML([]byte(example)); err != nil {
		t.Error(err)
	}
	for what, yaml := range map[string]string{
		"": example + "colour: red\n", "pooling.": example + "pooling: {colour: red}\n",
		"feature ": strings.Replace(example, "unit: kg", "colour: red", 1),
	} {
		_, err := contract.ParseYAML([]byte(yaml))
		if err == nil {
			t.Fatal("an unknown key is read")
		}
		_, keys, _ := strings.Cut(err.Error(), "the keys here are: ")
		for _, key := range strings.Split(keys, ", ") {
			name := "`" + key
			if what == "pooling." {
				name = "`pooling." + key
			}
			if !strings.Contains(page, name) {
				t.Errorf("the page does not name the key %s%s", what, key)
			}
		}
	}
}

func TestSomeRanges(t *testing.T) {
	_, err := contract.ParseYAML([]byte(strings.Replace(smallYAML, ", range: [1, 300]", "", 1)))
	wantProblem(t, "one range is missing", err, `feature "weight" has no range and others have one`)
	c, err := contract.ParseYAML([]byte(strings.Replace(smallYAML, ", range: [1, 300]", "", 1) + "standardise: none\n"))
	if err != nil || c.Standardise != "none" {
		t.Errorf("standardise: none gives %v, %v", c, err)
	}
}

func TestExplicitZeroIsNotTheDefault(t *testing.T) {
	for _, c := range []struct{ more, problem string }{
		{"model: {kind: ridge, alpha: 0}", "model.alpha is 0, must be positive"},
		{"model: {c: 0}", "model.c is 0, must be positive"},
		{"floors: {rows: 0}", "floors.rows is 0"},
		{"max_rows: 0", "max_rows is 0"},
		{"basis: {dim: 0}", "basis.dim is 0, must be from 1 to 2"},
	} {
		_, err := contract.ParseYAML([]byte(smallYAML + c.more + "\n"))
		wantProblem(t, c.more, err, c.problem)
	}
	c, err := contract.ParseYAML([]byte(smallYAML + "floors: {per_class: 0}\n"))
	if err != nil || c.Floors.PerClass != 0 {
		t.Errorf("per_class: 0 gives %v, %v; an explicit 0 must stay", c, err)
	}
}

func TestYAMLIsReadStrictly(t *testing.T) {
	for _, c := range []struct{ name, yaml, problem string }{
		{"unknown key", smallYAML + "colour: red\n", `line 11, column 9: colour: unknown key; the keys here are: name, protocol, parties`},
		{"unknown inner key", smallYAML + "model: {knd: ridge}\n", "model.knd: unknown key; the keys here are: kind, alpha, c, max_iter"},
		{"repeated key", smallYAML + "parties: 4\n", "parties"},
		{"octal", strings.Replace(smallYAML, "parties: 3", "parties: 010", 1), `line 3, column 10: parties: must be a whole number such as 12, got "010"`},
		{"hexadecimal", strings.Replace(smallYAML, "parties: 3", "parties: 0x3", 1), `got "0x3"`},
		{"underscore", strings.Replace(smallYAML, "parties: 3", "parties: 1_0", 1), `got "1_0"`},
		{"quoted number", strings.Replace(smallYAML, "parties: 3", `parties: "3"`, 1), "must be a whole number"},
		{"fraction", strings.Replace(smallYAML, "parties: 3", "parties: 3.0", 1), "must be a whole number"},
		{"infinity", strings.Replace(smallYAML, "[0, 120]", "[0, .inf]", 1), "features[1].range[2]: must be a plain decimal number"},
		{"overflow", strings.Replace(smallYAML, "[0, 120]", "[0, 1e999]", 1), "out of range"},
		{"nothing", "", "0 documents"},
		{"two documents", smallYAML + "---\nname: x\n", "2 documents"},
		{"anchor", strings.Replace(smallYAML, "parties: 3", "parties: &p 3", 1), "is not used in study.yaml"},
		{"alias", smallYAML + "anchor: &a {rows: 5}\nbasis: *a\n", "is not used in study.yaml"},
		{"tag", strings.Replace(smallYAML, "parties: 3", "parties: !!int 3", 1), "is not used in study.yaml"},
		{"null", strings.Replace(smallYAML, "parties: 3", "parties:", 1), "has no value"},
		{"deep brackets", "name: " + strings.Repeat("[", 200000), "nested too deep"},
		{"deep list marks", strings.Repeat("- ", 200000), "nested too deep"},
		{"tab", "name: x\nlabel:\n\tname: y\n", "study.yaml: line 3, column 1: a tab stands here; YAML is indented with spaces alone"},
		{"rule of a feature", "name: x\nparties: 3\nfeatures:\n  - {name: one, range: [0, 1]}\n  - name: two\n    range: [0, 1]\n    missing: median\nlabel: {name: y, type: number}\nbasis: {dim: 1}\n", `study.yaml: line 7: feature "two": missing is "median", must be refuse, mean or constant for type numeric`},
		{"too few to pool", smallYAML + "standardise: pooled\npooling: {colluders: 1}\n", "study.yaml: line 12: pooling.colluders is 1 of 3 parties; a pooled sum must be over at least three parties beyond those who may collude, of whom there is one at least, each party itself: 4 parties are needed at least with so many"},
		{"a comment may have any marks", smallYAML + "#" + strings.Repeat("?[", 1000) + "\nx: 1\n", "x: unknown key"},
		{"deep indentation", strings.Repeat(" ", 100) + "name: x", "indented by 100 columns"},
		{"a list is no mapping", "- a\n- b\n", "must be a mapping"},
		{"syntax", "name: [a\n", "study.yaml"},
	} {
		_, err := contract.ParseYAML([]byte(c.yaml))
		wantProblem(t, c.name, err, c.problem)
	}
}

// TestYAMLWordsStayWords: classes named no, yes, 1 and 010 keep their spelling.
func TestYAMLWordsStayWords(t *testing.T) {
	y := strings.Replace(smallYAML, `levels: ["0", "1"], positive: "1"`, `levels: [no, 010], positive: 010`, 1)
	c, err := contract.ParseYAML([]byte(y))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"no", "010"}, c.Label.Levels); diff != "" {
		t.Error(diff)
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct{ name, from, to, problem string }{
		{"no name", "name: Readmission", `name: ""`, "name is missing"},
		{"one party", "parties: 3", "parties: 1", "parties is 1, must be from 2 to 500"},
		{"same feature twice", "name: weight", "name: age", `features 1 and 2 are both named "age"`},
		{"label among features", "name: outcome", "name: age", `"age" is both the label and a feature`},
		{"range backwards", "[0, 120]", "[120, 0]", `feature "age": range is [120, 0], must be two finite numbers, the smaller first`},
		{"type", "unit: years", "type: text", `feature "age": type is "text", must be numeric`},
		{"one level", `["0", "1"]`, `["1"]`, "number of label.levels is 1"},
		{"level twice", `["0", "1"]`, `["1", "1"]`, `label.levels has "1" twice`},
		{"positive", `positive: "1"`, `positive: "2"`, `label.positive is "2", must be one of: 0, 1`},
		{"no positive", `, positive: "1"`, ``, `label.positive is missing; it is one of: 0, 1`},
		{"bidirectional override", "name: Readmission", `name: "abc\u202edef"`, "invisible character U+202E"},
		{"filler", "name: Readmission", `name: "abc\u3164"`, "invisible character U+3164"},
		{"braille blank", "name: Readmission", `name: "abc\u2800def"`, "invisible character U+2800"},
		{"variation selector", "name: Readmission", `name: "abc\ufe0fdef"`, "invisible character U+FE0F"},
		{"two spaces", "name: Readmission", `name: "abc  def"`, "two in a row"},
		{"line break", "name: Readmission", `name: "abc\ndef"`, "invisible character U+000A"},
	} {
		if !strings.Contains(smallYAML, c.from) {
			t.Fatalf("%s: the sample has no %q", c.name, c.from)
		}
		_, err := contract.ParseYAML([]byte(strings.Replace(smallYAML, c.from, c.to, 1)))
		wantProblem(t, c.name, err, c.problem)
	}
	for _, c := range []struct{ more, problem string }{
		{"protocol: open", `protocol is "open", must be one of: dc, nri`},
		{"answers: hard", "answers and local_model belong to protocol nri, this one is dc"},
		{"local_model: {kind: ridge}", "answers and local_model belong to protocol nri"},
		{"protocol: nri\nanswers: all", `answers is "all", must be one of: hard, soft`},
		{"protocol: nri\nanchor: {kind: uniform}", "anchor.kind is uniform; under nri each party trains its model on the anchor"},
		{"protocol: nri\nstandardise: none", "standardise is none; under nri each party trains its model on the normal anchor"},
		{"protocol: nri\nlocal_model: {kind: knn}", `local_model.kind is "knn", must be one of`},
		{"protocol: nri\nlocal_model: {kind: forest, trees: 0}", "local_model.trees is 0"},
		{"protocol: nri\nlocal_model: {kind: mlp, hidden: [4096, 4096]}", "local_model.hidden [4096 4096] with 3 columns"},
		{"basis: {kind: pca-perturbed}", "for protocol nri; under dc the basis is kept anyway"},
		{"basis: {kind: scrambled}", "for protocol nri"},
		{"basis: {dim: 2, fraction: 0.5}", "basis has both dim and fraction"},
		{"basis: {fraction: 1}", "basis.fraction is 1, must be above 0 and below 1"},
		{"basis: {kind: pca, delta: 0.1}", "basis.delta is 0.1, must be left out of kind pca: it belongs to pca-perturbed"},
		{"protocol: nri\nbasis: {delta: 0}", "basis.delta is 0, must be above 0"},
		{"subject: age", `the subject "age" is the label or a feature`},
		{"floors: {people: 5}", "floors.people is 5 without a subject"},
		{"subject: id\nfloors: {rows: 20, people: 21}", "floors.people is 21, must be from 1 to 20"},
		{"subject: id\nfloors: {people: 0}", "floors.people is 0, must be from 1"},
		{"noise: {}", "noise must have epsilon, delta and clip"},
		{"noise: {epsilon: 1, delta: 0.001}", "noise must have epsilon, delta and clip"},
		{"noise: {epsilon: 1, delta: 0.001, clip: 2}", "basis.kind is pca, which is made from the rows, and noise has an epsilon"},
		{"basis: {kind: random}\nnoise: {epsilon: 1, delta: 0.001, clip: 2, sigma: 1}", "noise has both sigma and epsilon"},
		{"basis: {kind: random}\nnoise: {epsilon: 1, delta: 0.5, clip: 2}", "noise.delta is 0.5, must be below 0.1"},
		{"basis: {kind: random}\nnoise: {epsilon: -1, delta: 0.5, clip: 2}", "noise.epsilon is -1, must be positive"},
		{"basis: {kind: random}\nfloors: {eps: 0.1}\nnoise: {epsilon: 1, delta: 0.001, clip: 2}", "floors.eps drops rows by what they are"},
		{"basis: {kind: random}\nstandardise: none\nnoise: {epsilon: 1, delta: 0.001, clip: 2}", "standardise is none and noise has an epsilon"},
		{"floors: {eps: 1}", "floors.eps is 1, must be from 0 to below 1"},
		{"standardise: pooled", "pooling.colluders is 1 of 3 parties; a pooled sum must be over at least three parties"},
		{"standardise: mean", `standardise is "mean", must be one of: range, pooled, none`},
		{"pooling: {colluders: 1}", "pooling is given and nothing is pooled"},
		{"lift: {dim: 9, gamma: 0}", "lift.gamma is 0"},
		{"missing_values: [NA, NA]", `missing_values has "NA" twice`},
		{"missing_values: [\"1\"]", `"1" is among missing_values and a level of the label`},
		{"alignment: {dim: 2}", "alignment.dim belongs to ls, gep or consensus, the method is odc"},
		{"anchor: {rows: 2}", "anchor.rows (at least the number of features, for Rank(A) = m) is 2, must be from 3"},
		{"anchor: {kind: gaussian}", "pooling.colluders is 1 of 3 parties"},
		{"anchor: {kind: public}", "anchor.sha256 is missing"},
		{"anchor: {kind: public, sha256: abc}", "must be a SHA-256 of 64 lower-case hexadecimal digits"},
		{"anchor: {kind: normal, sha256: " + strings.Repeat("0a", 32) + "}", ", must be left out of kind normal: it belongs to public"},
		{"anchor: {kind: smote, rank: 2}", "anchor.rank is 2, must be left out of kind smote: it belongs to low-rank"},
		{"anchor: {kind: low-rank, rank: 4}", "anchor.rank is 4, must be from 1 to 3"},
		{"anchor: {kind: low-rank, delta: 0}", "anchor.delta is 0, must be above 0"},
		{"anchor: {kind: smote, neighbours: 0}", "anchor.neighbours is 0, must be from 1"},
		{"standardise: none\nanchor: {kind: smote}", "whose pieces show near-raw rows to the other parties"},
		{"basis: {dim: 3}", "basis.dim is 3, must be from 1 to 2: a basis as wide as the 3 features would leave nothing out"},
		{"alignment: {method: cca}", `alignment.method is "cca", must be one of: odc, ls, gep, opp, gopp, rdp`},
		{"alignment: {method: gep, target: random}", `alignment.target of gep is "random", must be one of: identity`},
		{"alignment: {target: sigma}", `alignment.target of odc is "sigma", must be one of: identity, random`},
		{"model: {kind: oracle}", `model.kind is "oracle", must be one of: ridge, logistic, svm-linear, mlp, forest, boosting`},
		{"model: {kind: svm}", `model.kind is "svm": its model contains training rows`},
		{"model: {kind: knn}", `model.kind is "knn": its model contains training rows`},
		{"model: {alpha: 1}", "model.alpha does not belong to logistic, which has c, max_iter"},
		{"model: {kind: forest, trees: 0}", "model.trees is 0, must be positive and at most 10000"},
		{"model: {kind: mlp, hidden: [8, 0]}", "model.hidden is [8 0], must be 1 to 8 widths from 1 to 4096"},
		{"model: {kind: mlp, hidden: [4096, 4096]}", "model.hidden [4096 4096] with 2 columns has 16801794 weights, must be at most 16777216"},
		{"model: {kind: boosting, max_iter: 68760}", "model.max_iter 68760 with max_leaves 31 can have 4194360 nodes, must be at most 4194304"},
		{"model: {kind: mlp, hidden: [8, x]}", "must be a whole number"},
		{"model: {kind: ridge, seed: 1}", "model.seed"},
		{"model: {kind: boosting, max_depth: -1}", "model.max_depth is -1, must be from 1 to 1000"},
		{"metrics: [rmse]", `metrics is "rmse", must be one of: roc_auc, pr_auc, accuracy, balanced_accuracy`},
		{"metrics: [accuracy, accuracy]", `metrics has "accuracy" twice`},
		{"floors: {rows: 5, per_class: 6}", "floors.per_class is 6, must be from 0 to 5"},
		{"max_rows: 2000000000", "max_rows is 2000000000"},
	} {
		_, err := contract.ParseYAML([]byte(smallYAML + c.more + "\n"))
		wantProblem(t, c.more, err, c.problem)
	}
}

// TestNRI: what nri brings with it.
func TestNRI(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML + "protocol: nri\nmodel: {kind: svm}\nsubject: id\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Answers != "hard" || c.Anchor.Kind != "normal" || c.Basis.Kind != "pca-perturbed" || c.Basis.Delta != 0.05 || c.Floors.People != 10 {
		t.Errorf("defaults %+v", c)
	}
	if c.Model.Kind != "svm" || c.LocalModel == nil || c.LocalModel.Kind != "logistic" {
		t.Errorf("models %v and %v", c.Model, c.LocalModel)
	}
	if want := int64(8 * c.Anchor.Rows); c.Expect.DownBytes != want {
		t.Errorf("%d bytes come down, want %d", c.Expect.DownBytes, want)
	}
	same, err := contract.ParseYAML([]byte(smallYAML + "protocol: nri\nanswers: soft\nmodel: {kind: forest, trees: 7}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if same.LocalModel.Kind != "forest" || same.LocalModel.Trees != 7 || same.Expect.DownBytes != int64(2*8*same.Anchor.Rows) {
		t.Errorf("the same model: %v, %d bytes down", same.LocalModel, same.Expect.DownBytes)
	}
	encoded(t, c)
	described(t, c, "nri", "anchor", "hard", "own model", "kernel support vector machine", "delta 0.05", "10 different people", "id")
}

// TestFraction: a dimension as a share of the features, of which the contract has the
// number.
func TestFraction(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML + "basis: {fraction: 0.67}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Basis.Dim != 2 {
		t.Errorf("two thirds of 3 features are %d", c.Basis.Dim)
	}
}

// TestAnchors: kinds that need more than a seed, and what people read of them.
func TestAnchors(t *testing.T) {
	for _, tc := range []struct {
		yaml, says string
		visits     int
		want       anchorspec.Spec
	}{
		{"anchor: {kind: low-rank}\n", "SHOWS NEAR-RAW ROWS", 5, anchorspec.Spec{Kind: "low-rank", Rows: 1000, Rank: 2, Delta: 0.05}},
		{"anchor: {kind: smote, rows: 50}\n", "SHOWS NEAR-RAW ROWS", 5, anchorspec.Spec{Kind: "smote", Rows: 50, Neighbours: 5}},
		{"anchor: {kind: public, sha256: " + strings.Repeat("0a", 32) + "}\n", "public file with SHA-256 0a0a", 4, anchorspec.Spec{Kind: "public", Rows: 1000, SHA256: strings.Repeat("0a", 32)}},
	} {
		c, err := contract.ParseYAML([]byte(smallYAML + tc.yaml))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, c.Anchor); diff != "" {
			t.Error(diff)
		}
		if c.Expect.Visits != tc.visits {
			t.Errorf("%s: %d visits, want %d", tc.yaml, c.Expect.Visits, tc.visits)
		}
		described(t, c, tc.says)
		encoded(t, c)
	}
}

// TestNoise: what a contract says of noise, and its deviation.
func TestNoise(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML + "basis: {kind: random}\nnoise: {epsilon: 2, delta: 0.001, clip: 3}\n"))
	if err != nil {
		t.Fatal(err)
	}
	// 1.445 a unit of sensitivity ([balle2018]; docs/methods.md section 7.8), which is 6.
	if sigma, err := c.Noise.Deviation(); err != nil || math.Abs(sigma/6-1.445) > 5e-4 || !c.Noise.Guarantees() {
		t.Errorf("deviation %v, %v", sigma, err)
	}
	if text := release.Describe(c); !strings.Contains(text, "(2, 0.001)-differentially private") || !strings.Contains(text, "labels, their counts and the number of rows are not covered") {
		t.Errorf("the description does not say it:\n%s", text)
	}
	if c, err = contract.ParseYAML([]byte(smallYAML + "noise: {sigma: 0.25}\n")); err != nil {
		t.Fatal(err)
	}
	if sigma, err := c.Noise.Deviation(); err != nil || sigma != 0.25 || c.Noise.Guarantees() {
		t.Errorf("noise alone: %v, %v", sigma, err)
	}
	if text := release.Describe(c); !strings.Contains(text, "without a guarantee") || strings.Contains(text, "differentially") {
		t.Errorf("the description says too much:\n%s", text)
	}
}

func TestContractBytesAreTheContract(t *testing.T) {
	c, err := contract.ParseYAML([]byte(smallYAML))
	if err != nil {
		t.Fatal(err)
	}
	text := string(encoded(t, c))
	for _, bad := range []struct{ name, json, problem string }{
		{"repeated key", strings.Replace(text, `"parties": 3,`, `"parties": 2, "parties": 3,`, 1), "not the canonical encoding"},
		{"other case", strings.Replace(text, `"parties"`, `"Parties"`, 1), "not the canonical encoding"},
		{"unknown key", strings.Replace(text, `"parties"`, `"extra": 1, "parties"`, 1), "unknown field"},
		{"other format", strings.Replace(text, `"format": 1`, `"format": 2`, 1), "has format 2, this program reads format 1"},
		{"edited expectation", strings.Replace(text, `"visits": 4`, `"visits": 1`, 1), "expect does not follow"},
		{"truncated", text[:len(text)/2], "contract.json"},
		{"trailing", text + "{}", "contract.json"},
		{"spaces", strings.Replace(text, "  ", "   ", 1), "not the canonical encoding"},
	} {
		_, err := contract.Decode([]byte(bad.json))
		wantProblem(t, bad.name, err, bad.problem)
	}
}

// encoded is a contract's bytes, which decode to it again.
func encoded(t *testing.T, c *contract.Contract) []byte {
	t.Helper()
	b, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := contract.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Error(diff)
	}
	return b
}

// described wants the contract's description to say all of these.
func described(t *testing.T, c *contract.Contract, wants ...string) {
	t.Helper()
	text := release.Describe(c)
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("the description does not say %q:\n%s", want, text)
		}
	}
}

func wantProblem(t *testing.T, name string, err error, problem string) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: accepted, want an error with %q", name, problem)
	} else if !strings.Contains(err.Error(), problem) {
		t.Errorf("%s: error is\n  %v\nwant it to say\n  %s", name, err, problem)
	}
}

func FuzzParseYAML(f *testing.F) {
	f.Add([]byte(smallYAML))
	f.Add([]byte(tableYAML))
	f.Add([]byte(viewed))
	f.Add([]byte("name: &a x\nparties: *a\n? [b]\n: c\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := contract.ParseYAML(b)
		if err != nil {
			return
		}
		out, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := contract.Decode(out); err != nil {
			t.Fatalf("a parsed contract does not decode: %v", err)
		}
	})
}

func FuzzDecodeContract(f *testing.F) {
	c, err := contract.ParseYAML([]byte(smallYAML))
	if err != nil {
		f.Fatal(err)
	}
	b, err := c.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	if c, err = contract.ParseYAML([]byte(tableYAML)); err != nil {
		f.Fatal(err)
	}
	if b, err = c.Encode(); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := contract.Decode(b)
		if err != nil {
			return
		}
		again, err := c.Encode()
		if err != nil || string(again) != string(b) {
			t.Fatalf("accepted another spelling: %v", err)
		}
	})
}

// TestModels reads every kind of model with its defaults, which stand in the
// contract, and says in words what it is.
func TestModels(t *testing.T) {
	for _, c := range []struct {
		more, words string
		want        contract.Model
	}{
		{"{kind: ridge}", "ridge regression, alpha 1", contract.Model{Kind: "ridge", Alpha: 1}},
		{"{kind: logistic, c: 3}", "logistic regression, C 3, at most 1000 iterations", contract.Model{Kind: "logistic", C: 3, MaxIter: 1000}},
		{"{kind: svm-linear}", "linear support vector machine, C 1, at most 1000 passes", contract.Model{Kind: "svm-linear", C: 1, MaxIter: 1000}},
		{"{kind: mlp, hidden: [256], rate: 0.002, seed: 4}", "multilayer perceptron, hidden layers of [256] units, alpha 0.0001, rate 0.002, batches of 200, at most 200 epochs",
			contract.Model{Kind: "mlp", Hidden: []int{256}, Alpha: 1e-4, Rate: 0.002, Batch: 200, Epochs: 200, Seed: 4}},
		{"{kind: forest, max_depth: 5}", "random forest of 100 trees of depth 5 at most, leaves of at least 1 rows: a leaf can be one row's label",
			contract.Model{Kind: "forest", Trees: 100, MinLeaf: 1, MaxDepth: 5}},
		{"{kind: boosting}", "gradient boosting, 100 rounds at rate 0.1, at most 31 leaves, of at least 20 rows each",
			contract.Model{Kind: "boosting", MaxIter: 100, Rate: 0.1, MaxLeaves: 31, MinLeaf: 20}},
	} {
		got, err := contract.ParseYAML([]byte(smallYAML + "model: " + c.more + "\n"))
		if err != nil {
			t.Errorf("%s: %v", c.more, err)
			continue
		}
		if d := cmp.Diff(c.want, got.Model); d != "" {
			t.Errorf("%s: %s", c.more, d)
		}
		if got.Model.String() != c.words {
			t.Errorf("%s: %q, want %q", c.more, got.Model, c.words)
		}
		if l, err := learn.New(got.Model.Spec()); err != nil || l.Name() != c.want.Kind || l.CarriesRows() {
			t.Errorf("%s: learner %v, %v", c.more, l, err)
		}
		if got.Expect.DownBytes < 50 {
			t.Errorf("%s: %d bytes down", c.more, got.Expect.DownBytes)
		}
	}
}
