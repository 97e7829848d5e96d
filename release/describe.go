package release

import (
	"fmt"
	"math"
	"strings"

	anchorspec "concord/anchor/spec"
	"concord/contract"
	"concord/wire"
)

// Describe says in a few lines of plain words what a contract means for those
// who sign it: every resolved value that decides what leaves and what comes
// back.
func Describe(c *contract.Contract) string {
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-14s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("study", "%s, %d parties and one analyst", c.Name, c.Parties)
	if c.Protocol == "nri" {
		line("protocol", "%s: projected rows, projected anchor and labels leave a site once; the site keeps neither its", c.Protocol)
		line("", "basis nor the order of its rows; the model's %s answers for the anchor come back", c.Answers)
	} else {
		line("protocol", "%s: projected rows, projected anchor and labels leave a site once; each site keeps its secret basis", c.Protocol)
	}
	describeFeatures(c, line)
	switch c.Label.Type {
	case "class":
		line("label", "%s, classes %s", c.Label.Name, wire.List(c.Label.Levels, 8))
		if c.Label.Positive != "" {
			line("", "the positive class is %s", c.Label.Positive)
		}
	default:
		line("label", "%s, a number", c.Label.Name)
	}
	describePooling(c, line)
	line("anchor", "%s, %d rows; from a seed that the parties share and the analyst does not have", c.Anchor.Kind, c.Anchor.Rows)
	switch {
	case c.Anchor.Kind == anchorspec.Uniform:
		line("", "whose images show the analyst directions of single features; those of an orthonormal or normal anchor do not")
	case c.Anchor.Kind == anchorspec.Gaussian:
		line("", "with the pooled mean and covariance: it lies where rows lie, and is made of none of them")
	case c.Anchor.Kind == anchorspec.Public:
		line("", "made of the public file with SHA-256 %s", c.Anchor.SHA256)
	case c.Anchor.Pieces():
		line("", "made of a piece of every party, which SHOWS NEAR-RAW ROWS to every other party;")
		line("", "a person at each site sees how near, and approves it")
	}
	if c.Basis.Delta > 0 {
		line("basis", "%s with delta %g, %d columns for %d %s", c.Basis.Kind, c.Basis.Delta, c.Basis.Dim, c.Width(), c.ColumnsWord())
	} else {
		line("basis", "%s, %d columns for %d %s", c.Basis.Kind, c.Basis.Dim, c.Width(), c.ColumnsWord())
	}
	if n := c.Noise; n != nil {
		sigma, err := n.Deviation()
		if err != nil {
			sigma = math.NaN() // the contract was not validated
		}
		if n.Guarantees() {
			line("noise", "deviation %.3g on every shared number: the features of one row are (%g, %g)-differentially private,", sigma, n.Epsilon, n.Delta)
			line("", "rows cut to length %g; labels, their counts and the number of rows are not covered", n.Clip)
		} else {
			line("noise", "deviation %g on every shared number, without a guarantee", sigma)
		}
	}
	if c.Basis.Pooled() {
		line("", "directions of the pooled second moments, the same for all, that each site mixes in secret")
	}
	if c.Alignment.Dim > 0 {
		line("alignment", "%s, target %s, to %d columns", c.Alignment.Method, c.Alignment.Target, c.Alignment.Dim)
	} else {
		line("alignment", "%s, target %s", c.Alignment.Method, c.Alignment.Target)
	}
	line("model", "%s", c.Model)
	if c.LocalModel != nil {
		line("own model", "%s, trained at each site on the anchor and the answers", c.LocalModel)
	}
	line("metrics", "%s, cross-validated by the analyst", strings.Join(c.Metrics, ", "))
	if c.Label.Type == "class" {
		line("floors", "at least %d rows, at least %d of each class, at most %d rows", c.Floors.Rows, c.Floors.PerClass, c.MaxRows)
	} else {
		line("floors", "at least %d rows, at most %d rows", c.Floors.Rows, c.MaxRows)
	}
	if c.Subject != "" {
		line("", "at least %d different people, told apart by the column %s, which does not leave", c.Floors.People, c.Subject)
	}
	if c.Floors.Eps > 0 {
		line("", "rows of which the basis leaves out less than %g of their length are dropped", c.Floors.Eps)
	}
	line("late parties", "%s", c.Admission.Describe())
	for i, a := range c.Auditors {
		what := "auditors"
		if i > 0 {
			what = ""
		}
		line(what, "%q (%s)", a.Name, a.Fingerprint.Short())
		if i == len(c.Auditors)-1 {
			line("", "may get from the analyst ALL THAT IT HAS, contributions opened, to compute the results again")
		}
	}
	steps := "join, setup"
	if c.Pooling != nil {
		steps += " with masked figures"
	}
	if c.Anchor.Pieces() {
		steps += ", piece of the anchor"
	}
	for _, step := range c.PoolSteps() {
		steps += ", " + step
	}
	steps += ", contribute, receive"
	line("visits", "%d: %s", c.Expect.Visits, steps)
	line("bytes", "up %d + %d a row, down %d, and a few thousand for envelopes", c.Expect.UpBytes, c.Expect.UpBytesPerRow, c.Expect.DownBytes)
	if c.Pooling != nil {
		line("", "for pooled figures up %d and down %d", c.Expect.PoolUpBytes, c.Expect.PoolDownBytes)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
