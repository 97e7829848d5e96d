package contract

import (
	"concord/learn"
	"concord/wire"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Model says what the analyst trains. A setting that the kind does not have is 0,
// or empty, and does not stand in the file.
type Model struct {
	// Kind is "ridge", "logistic", "svm-linear", "mlp", "forest" or "boosting"; of
	// the analyst's model under nri also "svm" or "knn".
	Kind string `json:"kind"`
	// Alpha is the penalty of ridge and mlp.
	Alpha float64 `json:"alpha,omitempty"`
	// C is the inverse penalty of logistic, svm-linear and svm.
	C float64 `json:"c,omitempty"`
	// MaxIter bounds the iterations of logistic and svm-linear and the steps of svm; it is the number
	// of rounds of boosting.
	MaxIter int `json:"max_iter,omitempty"`
	// Hidden are the widths of the hidden layers of mlp.
	Hidden []int `json:"hidden,omitempty"`
	// Rate is the learning rate of mlp and boosting.
	Rate float64 `json:"rate,omitempty"`
	// Batch is the number of rows of a minibatch of mlp.
	Batch int `json:"batch,omitempty"`
	// Epochs bounds the passes of mlp over the rows.
	Epochs int `json:"epochs,omitempty"`
	// Trees is the number of trees of forest.
	Trees int `json:"trees,omitempty"`
	// MaxDepth bounds the depth of the trees of forest and boosting; 0 for none.
	MaxDepth int `json:"max_depth,omitempty"`
	// MinLeaf is the least number of rows in a leaf of forest and boosting.
	MinLeaf int `json:"min_leaf,omitempty"`
	// MaxLeaves bounds the leaves of a tree of boosting.
	MaxLeaves int `json:"max_leaves,omitempty"`
	// Seed is what svm-linear, mlp, forest and boosting draw from.
	Seed int `json:"seed,omitempty"`
}

// settings are those that a contract can give; a learner's others have their
// defaults.
var settings = []string{"alpha", "c", "max_iter", "hidden", "rate", "batch", "epochs", "trees", "max_depth", "min_leaf", "max_leaves", "seed"}

// Spec is the learner that m names.
func (m Model) Spec() learn.Spec {
	return learn.Spec{
		Kind: m.Kind, Alpha: m.Alpha, C: m.C, MaxIter: m.MaxIter, Hidden: m.Hidden, Rate: m.Rate, Batch: m.Batch, Epochs: m.Epochs,
		Trees: m.Trees, MaxDepth: m.MaxDepth, MinLeaf: m.MinLeaf, MaxLeaves: m.MaxLeaves, Seed: uint64(m.Seed),
	}
}

// String says what is trained, in words.
func (m Model) String() string {
	switch m.Kind {
	case "ridge":
		return fmt.Sprintf("ridge regression, alpha %g", m.Alpha)
	case "logistic":
		return fmt.Sprintf("logistic regression, C %g, at most %d iterations", m.C, m.MaxIter)
	case "svm-linear":
		return fmt.Sprintf("linear support vector machine, C %g, at most %d passes", m.C, m.MaxIter)
	case "svm":
		return fmt.Sprintf("kernel support vector machine, C %g, at most %d steps a machine", m.C, m.MaxIter)
	case "knn":
		return "nearest neighbours"
	case "mlp":
		return fmt.Sprintf("multilayer perceptron, hidden layers of %v units, alpha %g, rate %g, batches of %d, at most %d epochs",
			m.Hidden, m.Alpha, m.Rate, m.Batch, m.Epochs)
	case "forest":
		return fmt.Sprintf("random forest of %d trees%s, leaves of at least %d rows: a leaf can be one row's label", m.Trees, depth(m.MaxDepth), m.MinLeaf)
	case "boosting":
		return fmt.Sprintf("gradient boosting, %d rounds at rate %g, at most %d leaves%s, of at least %d rows each",
			m.MaxIter, m.Rate, m.MaxLeaves, depth(m.MaxDepth), m.MinLeaf)
	}
	return m.Kind
}

func depth(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" of depth %d at most", n)
}

// bytes is about how many a file with the model has, for l inputs and so many
// outputs; that of a forest grows with the rows, here those of the floors.
func (m Model) bytes(l, outputs, rows int64) int64 {
	const number, node = 8, 40
	switch m.Kind {
	case "mlp":
		return m.weights(l, outputs) * number
	case "forest":
		return int64(m.Trees) * rows * node
	case "boosting":
		return int64(m.MaxIter) * outputs * 2 * int64(m.MaxLeaves) * node
	}
	return (l + 1) * outputs * number
}

// weights is how many numbers an mlp has.
func (m Model) weights(l, outputs int64) int64 {
	count, width := int64(0), l
	for _, h := range m.Hidden {
		count += (width + 1) * int64(h)
		width = int64(h)
	}
	return count + (width+1)*outputs
}

// nodes is the most nodes that boosting can have with so many rows: a tree a round,
// for three classes and more one each.
func (m Model) nodes(outputs, rows int64) int64 {
	trees := int64(m.MaxIter)
	if outputs > 2 {
		trees *= outputs
	}
	leaves := min(int64(m.MaxLeaves), max(1, rows/int64(m.MinLeaf)))
	return trees * (2*leaves - 1)
}

// validate wants the kind's settings, all that must be said, in their ranges, and
// no others. key is where the model stands in the contract.
func (m Model) validate(key string) error {
	has := slices.DeleteFunc(learn.Settings(m.Kind), func(name string) bool { return !slices.Contains(settings, name) })
	for _, s := range []struct {
		name  string
		value float64
		most  float64
	}{
		{"alpha", m.Alpha, math.Inf(1)}, {"c", m.C, math.Inf(1)}, {"rate", m.Rate, 100},
		{"max_iter", float64(m.MaxIter), 1e6}, {"batch", float64(m.Batch), 1e6}, {"epochs", float64(m.Epochs), 1e5},
		{"trees", float64(m.Trees), 1e4}, {"min_leaf", float64(m.MinLeaf), 1e6}, {"max_leaves", float64(m.MaxLeaves), 1e4},
	} {
		switch {
		case !slices.Contains(has, s.name) && s.value != 0:
			return refuse(key+"."+s.name, "%s.%s does not belong to %s, which has %s", key, s.name, m.Kind, strings.Join(has, ", "))
		case slices.Contains(has, s.name) && (!wire.Finite(s.value) || s.value <= 0 || s.value > s.most):
			most := "finite"
			if wire.Finite(s.most) {
				most = fmt.Sprintf("at most %g", s.most)
			}
			return refuse(key+"."+s.name, "%s.%s is %g, must be positive and %s", key, s.name, s.value, most)
		}
	}
	switch {
	case m.MaxDepth != 0 && !slices.Contains(has, "max_depth"), m.Seed != 0 && !slices.Contains(has, "seed"), m.Hidden != nil && !slices.Contains(has, "hidden"):
		return refuse(key, "%[1]s.max_depth, %[1]s.seed or %[1]s.hidden does not belong to %[2]s, which has %[3]s", key, m.Kind, strings.Join(has, ", "))
	case m.MaxDepth < 0 || m.MaxDepth > 1000:
		return refuse(key+".max_depth", "%s.max_depth is %d, must be from 1 to 1000, or 0 for no bound", key, m.MaxDepth)
	case m.Seed < 0:
		return refuse(key+".seed", "%s.seed is %d, must not be negative", key, m.Seed)
	case slices.Contains(has, "hidden") && (len(m.Hidden) == 0 || len(m.Hidden) > 8 || slices.Min(m.Hidden) < 1 || slices.Max(m.Hidden) > 4096):
		return refuse(key+".hidden", "%s.hidden is %v, must be 1 to 8 widths from 1 to 4096", key, m.Hidden)
	}
	if _, err := learn.New(m.Spec()); err != nil {
		return refuse(key, "%s: %s", key, strings.TrimPrefix(err.Error(), "learn: "))
	}
	return nil
}

// fillIn sets what the kind's learner would take for 0, so that people see it.
func (m *Model) fillIn() {
	switch m.Kind {
	case "ridge":
		setNumber(&m.Alpha, 1)
	case "svm":
		setNumber(&m.C, 1)
		setNumber(&m.MaxIter, 1_000_000)
	case "logistic", "svm-linear":
		setNumber(&m.C, 1)
		setNumber(&m.MaxIter, 1000)
	case "mlp":
		setNumber(&m.Alpha, 1e-4)
		setNumber(&m.Rate, 1e-3)
		setNumber(&m.Batch, 200)
		setNumber(&m.Epochs, 200)
		if m.Hidden == nil {
			m.Hidden = []int{100}
		}
	case "forest":
		setNumber(&m.Trees, 100)
		setNumber(&m.MinLeaf, 1)
	case "boosting":
		setNumber(&m.MaxIter, 100)
		setNumber(&m.Rate, 0.1)
		setNumber(&m.MaxLeaves, 31)
		setNumber(&m.MinLeaf, 20)
	}
	for _, v := range m.reals() {
		setNumber(v, 0)
	}
	for _, v := range m.wholes() {
		setNumber(v, 0)
	}
}

func unsetModel() (m Model) {
	for _, v := range m.reals() {
		*v = unset
	}
	for _, v := range m.wholes() {
		*v = unset
	}
	return m
}

func (m *Model) reals() []*float64 { return []*float64{&m.Alpha, &m.C, &m.Rate} }

func (m *Model) wholes() []*int {
	return []*int{&m.MaxIter, &m.Batch, &m.Epochs, &m.Trees, &m.MaxDepth, &m.MinLeaf, &m.MaxLeaves, &m.Seed}
}
