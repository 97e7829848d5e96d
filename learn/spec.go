package learn

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Spec names a learner and its settings, as a contract or a command line does. The
// zero value of a setting is the learner's default; a setting that the kind does
// not have must be zero. [Settings] lists which kind has which.
type Spec struct {
	// Kind is one of Kinds.
	Kind string `json:"kind"`
	// Alpha is the penalty of ridge and of mlp.
	Alpha float64 `json:"alpha,omitempty"`
	// C is the inverse penalty of logistic, svm and svm-linear.
	C float64 `json:"c,omitempty"`
	// Gamma is that of the kernel of svm.
	Gamma float64 `json:"gamma,omitempty"`
	// Epsilon is the width of the tube of svm and svm-linear for numbers.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Tol is the tolerance of logistic, svm, svm-linear and mlp.
	Tol float64 `json:"tol,omitempty"`
	// MaxIter bounds the iterations of logistic, svm and svm-linear; it is the
	// number of rounds of boosting.
	MaxIter int `json:"max_iter,omitempty"`
	// Hidden are the widths of the hidden layers of mlp.
	Hidden []int `json:"hidden,omitempty"`
	// Rate is the learning rate of mlp and boosting.
	Rate float64 `json:"rate,omitempty"`
	// Batch is the number of rows of a minibatch of mlp.
	Batch int `json:"batch,omitempty"`
	// Epochs bounds the passes of mlp over the rows.
	Epochs int `json:"epochs,omitempty"`
	// Patience is how many epochs of mlp in a row may bring nothing.
	Patience int `json:"patience,omitempty"`
	// EarlyStopping is "on", "off" or "", of mlp and boosting.
	EarlyStopping string `json:"early_stopping,omitempty"`
	// Trees is the number of trees of forest.
	Trees int `json:"trees,omitempty"`
	// MaxDepth bounds the depth of the trees of forest and boosting.
	MaxDepth int `json:"max_depth,omitempty"`
	// MinLeaf is the least number of rows in a leaf of forest and boosting.
	MinLeaf int `json:"min_leaf,omitempty"`
	// MaxLeaves bounds the leaves of a tree of boosting.
	MaxLeaves int `json:"max_leaves,omitempty"`
	// Neighbours is the number of rows that vote in knn.
	Neighbours int `json:"neighbours,omitempty"`
	// Seed is what mlp, forest, boosting and svm-linear draw from.
	Seed uint64 `json:"seed,omitempty"`
}

// checked is a learner whose settings can be tested.
type checked interface {
	Learner
	check() error
}

// kinds are the kinds with the settings they have and how they are made.
var kinds = map[string]struct {
	settings []string
	make     func(s Spec) checked
}{
	"ridge":    {[]string{"alpha"}, func(s Spec) checked { return Ridge{Alpha: s.Alpha} }},
	"logistic": {[]string{"c", "max_iter", "tol"}, func(s Spec) checked { return Logistic{C: s.C, MaxIter: s.MaxIter, Tol: s.Tol} }},
	"svm-linear": {[]string{"c", "epsilon", "max_iter", "tol", "seed"}, func(s Spec) checked {
		return LinearSVM{C: s.C, Epsilon: s.Epsilon, MaxIter: s.MaxIter, Tol: s.Tol, Seed: s.Seed}
	}},
	"svm": {[]string{"c", "gamma", "epsilon", "max_iter", "tol"}, func(s Spec) checked {
		return SVM{C: s.C, Gamma: s.Gamma, Epsilon: s.Epsilon, MaxIter: s.MaxIter, Tol: s.Tol}
	}},
	"mlp": {[]string{"alpha", "hidden", "rate", "batch", "epochs", "tol", "patience", "early_stopping", "seed"}, func(s Spec) checked {
		return MLP{Alpha: s.Alpha, Hidden: slices.Clone(s.Hidden), Rate: s.Rate, Batch: s.Batch, Epochs: s.Epochs, Tol: s.Tol, Patience: s.Patience,
			EarlyStopping: s.EarlyStopping == "on", Seed: s.Seed}
	}},
	"forest": {[]string{"trees", "max_depth", "min_leaf", "seed"}, func(s Spec) checked {
		return Forest{Trees: s.Trees, MaxDepth: s.MaxDepth, MinLeaf: s.MinLeaf, Seed: s.Seed}
	}},
	"boosting": {[]string{"max_iter", "rate", "max_leaves", "max_depth", "min_leaf", "early_stopping", "seed"}, func(s Spec) checked {
		return Boosting{MaxIter: s.MaxIter, Rate: s.Rate, MaxLeaves: s.MaxLeaves, MaxDepth: s.MaxDepth, MinLeaf: s.MinLeaf,
			EarlyStopping: EarlyStopping(s.EarlyStopping), Seed: s.Seed}
	}},
	"knn": {[]string{"neighbours"}, func(s Spec) checked { return KNN{Neighbours: s.Neighbours} }},
}

// setting is one of Spec, by its name in contracts and on command lines.
type setting struct {
	name  string
	isSet func(s *Spec) bool
	parse func(s *Spec, text string) error
}

var settings = []setting{
	real("alpha", func(s *Spec) *float64 { return &s.Alpha }),
	real("c", func(s *Spec) *float64 { return &s.C }),
	real("gamma", func(s *Spec) *float64 { return &s.Gamma }),
	real("epsilon", func(s *Spec) *float64 { return &s.Epsilon }),
	real("tol", func(s *Spec) *float64 { return &s.Tol }),
	whole("max_iter", func(s *Spec) *int { return &s.MaxIter }),
	{"hidden", func(s *Spec) bool { return s.Hidden != nil }, func(s *Spec, text string) error {
		s.Hidden = nil
		for _, word := range strings.Split(text, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil {
				return fmt.Errorf("want whole numbers with commas")
			}
			s.Hidden = append(s.Hidden, n)
		}
		return nil
	}},
	real("rate", func(s *Spec) *float64 { return &s.Rate }),
	whole("batch", func(s *Spec) *int { return &s.Batch }),
	whole("epochs", func(s *Spec) *int { return &s.Epochs }),
	whole("patience", func(s *Spec) *int { return &s.Patience }),
	{"early_stopping", func(s *Spec) bool { return s.EarlyStopping != "" }, func(s *Spec, text string) error {
		s.EarlyStopping = text
		return nil
	}},
	whole("trees", func(s *Spec) *int { return &s.Trees }),
	whole("max_depth", func(s *Spec) *int { return &s.MaxDepth }),
	whole("min_leaf", func(s *Spec) *int { return &s.MinLeaf }),
	whole("max_leaves", func(s *Spec) *int { return &s.MaxLeaves }),
	whole("neighbours", func(s *Spec) *int { return &s.Neighbours }),
	{"seed", func(s *Spec) bool { return s.Seed != 0 }, func(s *Spec, text string) (err error) {
		if s.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return fmt.Errorf("want a whole number, not negative")
		}
		return nil
	}},
}

func real(name string, of func(*Spec) *float64) setting {
	return setting{name, func(s *Spec) bool { return *of(s) != 0 }, func(s *Spec, text string) (err error) {
		if *of(s), err = strconv.ParseFloat(text, 64); err != nil {
			return fmt.Errorf("want a number")
		}
		return nil
	}}
}

func whole(name string, of func(*Spec) *int) setting {
	return setting{name, func(s *Spec) bool { return *of(s) != 0 }, func(s *Spec, text string) (err error) {
		if *of(s), err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("want a whole number")
		}
		return nil
	}}
}

// Kinds are the kinds that New knows.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }

// Settings are the names of the settings that a kind has; nil for a kind that New
// does not know.
func Settings(kind string) []string { return slices.Clone(kinds[kind].settings) }

// Set gives a setting the value that text says, by the name that Settings has; the
// widths of hidden are separated by commas.
func (s *Spec) Set(name, text string) error {
	for _, t := range settings {
		if t.name != name {
			continue
		}
		if err := t.parse(s, text); err != nil {
			return fmt.Errorf("learn: %s is %q, %v", name, text, err)
		}
		return nil
	}
	var known []string
	for _, t := range settings {
		known = append(known, t.name)
	}
	return fmt.Errorf("learn: there is no setting %q, want one of: %s", name, strings.Join(known, ", "))
}

// New makes the learner that s names.
func New(s Spec) (Learner, error) {
	kind, ok := kinds[s.Kind]
	if !ok {
		return nil, fmt.Errorf("learn: kind is %q, want one of: %s", s.Kind, strings.Join(Kinds(), ", "))
	}
	var unused []string
	for _, t := range settings {
		if t.isSet(&s) && !slices.Contains(kind.settings, t.name) {
			unused = append(unused, t.name)
		}
	}
	if len(unused) > 0 {
		return nil, fmt.Errorf("learn: %s has no setting %s", s.Kind, strings.Join(unused, ", "))
	}
	if !slices.Contains([]string{"", "on", "off"}, s.EarlyStopping) {
		return nil, fmt.Errorf("learn: early_stopping is %q, want on, off or nothing", s.EarlyStopping)
	}
	l := kind.make(s)
	if err := l.check(); err != nil {
		return nil, err
	}
	return l, nil
}
