package contract

import (
	"bytes"
	"concord/wire"
	"encoding/json"
	"fmt"
	"slices"

	anchorspec "concord/anchor/spec"

	basisspec "concord/basis/spec"
	"concord/privacy"
)

// Format is the version of the contract format that this package
// writes.
const Format = 1

// Contract is what every party and the analyst agree on before anything is
// computed: which columns, which methods, which floors, how many visits. It is
// made from study.yaml by [ParseYAML], travels as contract.json, and is named by
// the SHA-256 of those bytes. A decoded Contract has passed [Contract.Validate].
type Contract struct {
	Format int `json:"format"`
	// Name is what people call the study.
	Name string `json:"name"`
	// Protocol is "dc": X̃ᵢ, Ãᵢ and Yᵢ leave a site, Gᵢ and h come back; or "nri":
	// they leave, the site keeps neither basis nor order of rows, and the model's
	// answers for the anchor come back ([imakura2023], algorithm 2).
	Protocol string `json:"protocol"`
	// Answers is what comes back under nri: "hard", classes, or "soft", scores;
	// numbers are soft.
	Answers string `json:"answers,omitempty"`
	// Parties is how many parties the roster closes with.
	Parties int `json:"parties"`
	// Features are the columns of a file in their order; [Contract.Columns] says what
	// columns of X they become.
	Features []Feature `json:"features"`
	// Label is what is predicted.
	Label Label `json:"label"`
	// Subject is the column that says whose row it is, or "" for a row a person.
	// It does not leave; floors.people counts it.
	Subject string `json:"subject,omitempty"`
	// MissingValues are the cells that mean missing, besides the empty one.
	MissingValues []string `json:"missing_values,omitempty"`
	// Standardise is "range" (each feature's range is mapped to [-1, 1]), "pooled" (each
	// column to mean 0 and variance 1 over all parties' rows) or "none".
	Standardise string `json:"standardise"`
	// Pooling is nil where nothing is pooled.
	Pooling *Pooling `json:"pooling,omitempty"`
	// Lift is nil for none.
	Lift *basisspec.Lift `json:"lift,omitempty"`
	// Views are there where the parties have partly different columns.
	Views  []View          `json:"views,omitempty"`
	Anchor anchorspec.Spec `json:"anchor"`
	Basis  basisspec.Spec  `json:"basis"`
	// Noise is what each party adds to X̃, or nil for nothing.
	Noise     *Noise    `json:"noise,omitempty"`
	Alignment Alignment `json:"alignment"`
	Model     Model     `json:"model"`
	// LocalModel is what each party trains under nri on the anchor and the
	// answers: its own model tᵢ.
	LocalModel *Model `json:"local_model,omitempty"`
	// Metrics are what the analyst reports, by cross-validation on the
	// collaboration representation.
	Metrics []string `json:"metrics"`
	Floors  Floors   `json:"floors"`
	// MaxRows is the most rows one party may contribute.
	MaxRows int `json:"max_rows"`
	// Admission says who lets in a party that comes after setup; nil for all members.
	Admission *Admission `json:"admission,omitempty"`
	// Auditors may get all that the analyst has.
	Auditors []Auditor `json:"auditors,omitempty"`
	// Expect is derived from the rest and shown before anybody agrees.
	Expect Expect `json:"expect"`
	// Within is set by [Contract.Through] only.
	Within *Within `json:"-"`
}

// Range is a closed interval of plausible values, Min < Max.
type Range struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// Label is the column that is predicted.
type Label struct {
	Name string `json:"name"`
	// Type is "class" or "number".
	Type string `json:"type"`
	// Levels are the classes as they are spelled in the files, two or more,
	// for type class.
	Levels []string `json:"levels,omitempty"`
	// Positive is the level whose score makes the ROC curve, for two levels.
	Positive string `json:"positive,omitempty"`
}

// Noise says how much Gaussian noise is on every number of X̃. With Epsilon, Delta and
// Clip it has a guarantee: rows are cut to the length Clip, and the features of one row
// are (ε, δ)-differentially private, labels and counts are not. With Sigma alone it is
// noise.
type Noise struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	Clip    float64 `json:"clip,omitempty"`
	Sigma   float64 `json:"sigma,omitempty"`
}

// Guarantees says whether the noise is differential privacy.
func (n *Noise) Guarantees() bool { return n.Epsilon > 0 }

// Deviation is that of the noise on X̃, in units of standardised features: Sigma, or the
// analytic Gaussian mechanism's for the sensitivity 2·Clip of replacing one row.
func (n *Noise) Deviation() (float64, error) {
	if !n.Guarantees() {
		return n.Sigma, nil
	}
	return privacy.Sigma(n.Epsilon, n.Delta, 2*n.Clip)
}

// Alignment says how the analyst finds the Gᵢ.
type Alignment struct {
	// Method is "odc", "ls", "gep", "opp", "gopp", "rdp" or "consensus".
	Method string `json:"method"`
	// Target is "identity", for odc and ls also "random" and for ls "sigma".
	Target string `json:"target"`
	// Dim is d, the columns of the collaboration representation, of ls, gep and consensus;
	// 0 for l.
	Dim int `json:"dim,omitempty"`
}

// Floors are the least figures with which a site may contribute. A site's own
// policy may be stricter, never laxer.
type Floors struct {
	// Rows is the least number of rows.
	Rows int `json:"rows"`
	// PerClass is the least number of rows of each class.
	PerClass int `json:"per_class"`
	// People is the least number of different subjects; 0 without a subject.
	People int `json:"people,omitempty"`
	// Eps is the least relative length that the basis leaves out of each row:
	// rows below are dropped before anything leaves ([nosaka2024mm], definition 2.6); 0 for
	// none.
	Eps float64 `json:"eps,omitempty"`
}

// Expect tells people what joining will cost (docs/methods.md section 8 counts the
// same numbers; here they are 8 bytes each).
type Expect struct {
	// Visits is how often a person comes to the program: join, setup,
	// contribute, receive; one more where a piece of the anchor is approved. A
	// stage of pooling adds two, masked sums and what opens them, of which the very
	// first goes with setup; common directions add one.
	Visits int `json:"visits"`
	// UpBytes is what a contribution takes without its rows: a·l numbers.
	UpBytes int64 `json:"up_bytes"`
	// UpBytesPerRow is what each row adds: l numbers and its label.
	UpBytesPerRow int64 `json:"up_bytes_per_row"`
	// DownBytes is Gᵢ and h, or under nri the answers.
	DownBytes int64 `json:"down_bytes"`
	// PoolUpBytes is what a party sends for pooled figures, in all stages together, and
	// PoolDownBytes what it gets from the others.
	PoolUpBytes   int64 `json:"pool_up_bytes,omitempty"`
	PoolDownBytes int64 `json:"pool_down_bytes,omitempty"`
}

// Limits that keep every size computed from a contract far from overflow and
// from what one machine can hold. They are stated here and nowhere else.
const (
	MaxParties  = 500 // a setup bundle is sealed to every other party
	MaxFeatures = 100_000
	MaxLevels   = 1_000
	MaxRows     = 100_000_000
	// MaxElements bounds the elements of one party's rows: 2³² numbers, 32 GiB.
	MaxElements = 1 << 32
	// MaxBytes bounds contract.json.
	MaxBytes = 64 << 20
)

// Protocols, kinds and methods that a contract may name.
var (
	protocols    = []string{"dc", "nri"}
	answers      = []string{"hard", "soft"}
	standards    = []string{"range", "pooled", "none"}
	methods      = []string{"odc", "ls", "gep", "opp", "gopp", "rdp", "consensus"}
	targets      = map[string][]string{"odc": {"identity", "random"}, "ls": {"identity", "random", "sigma"}}
	onlyIdentity = []string{"identity"}
	widths       = []string{"ls", "gep", "consensus"} // alignments with a dimension of their own, and for unequal lᵢ
	modelKinds   = []string{"ridge", "logistic", "svm-linear", "mlp", "forest", "boosting"}
	// rowKinds have training rows in their models.
	rowKinds     = []string{"svm", "knn"}
	classMetrics = []string{"roc_auc", "pr_auc", "accuracy", "balanced_accuracy"}
	valueMetrics = []string{"rmse", "mae", "r2"}
)

// Encode returns contract.json: indented, for people to read. Its SHA-256 is
// the contract hash.
func (c *Contract) Encode() ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(c); err != nil {
		return nil, fmt.Errorf("contract: contract: %w", err)
	}
	return buf.Bytes(), nil
}

// Decode reads contract.json and validates it. It accepts only the
// spelling that Encode writes, so that a key cannot stand twice and mean one
// thing to a reader and another to the program.
func Decode(b []byte) (*Contract, error) {
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("contract: contract.json has %d bytes, at most %d are read", len(b), MaxBytes)
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(b, &version); err != nil {
		return nil, fmt.Errorf("contract: contract.json: %w", err)
	}
	if version.Format != Format {
		return nil, &wire.FormatError{What: "contract: contract.json", Theirs: version.Format, Newest: Format}
	}
	c := new(Contract)
	if err := wire.DecodeStrict(b, c); err != nil {
		return nil, fmt.Errorf("contract: contract.json: %w", err)
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	again, err := c.Encode()
	if err != nil {
		return nil, err
	}
	if err := wire.SameEncoding(b, again); err != nil {
		return nil, fmt.Errorf("contract: contract.json: %w", err)
	}
	return c, nil
}

// FeatureNames returns the features' names in order.
func (c *Contract) FeatureNames() []string {
	names := make([]string, len(c.Features))
	for j, f := range c.Features {
		names[j] = f.Name
	}
	return names
}

// PublicFile is the SHA-256 of the public file that the anchor is made of; false if it is
// made of none.
func (c *Contract) PublicFile() (wire.Hash, bool) {
	h, err := wire.ParseHash(c.Anchor.SHA256)
	return h, err == nil
}

// PositiveLevel returns the index of the positive level, or -1 unless the
// label has two levels.
func (c *Contract) PositiveLevel() int {
	if len(c.Label.Levels) != 2 {
		return -1
	}
	return slices.Index(c.Label.Levels, c.Label.Positive)
}

// D is the number of columns of the collaboration representation.
func (c *Contract) D() int {
	if c.Alignment.Dim > 0 {
		return c.Alignment.Dim
	}
	return c.Basis.Dim
}

// expect computes what joining costs from the rest of the contract.
func (c *Contract) expect() Expect {
	const number = 8
	l, a := int64(c.Basis.Dim), int64(c.Anchor.Rows)
	d := int64(c.D())
	down := l*d*number + c.Model.bytes(d, c.outputs(), int64(c.Floors.Rows)*int64(c.Parties))
	switch {
	case c.Protocol == "nri" && c.Answers == "hard":
		down = a * number
	case c.Protocol == "nri":
		down = a * c.outputs() * number
	}
	visits := 4
	if c.Anchor.Pieces() {
		visits = 5 // a person approves the piece
	}
	pooled := int64(0)
	visits += len(c.PoolSteps())
	for _, stage := range c.Stages() {
		pooled += c.StageNumbers(stage) * pooledNumber
	}
	directions := int64(0)
	if c.Basis.Pooled() {
		directions = int64(c.M()) * l * number // from the first party to the others
	}
	return Expect{
		Visits:        visits,
		UpBytes:       a * l * number,
		UpBytesPerRow: (l + 1) * number,
		DownBytes:     down,
		PoolUpBytes:   pooled + directions,
		PoolDownBytes: pooled*int64(c.Parties-1) + directions,
	}
}

// outputs is how many numbers the model has for a row.
func (c *Contract) outputs() int64 { return int64(max(1, len(c.Label.Levels))) }
