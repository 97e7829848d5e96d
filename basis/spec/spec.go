// Package spec says which basis F (m × l) a party makes, and which lift comes before it: the
// kinds, what each has besides, and their limits. It is pure data, which the analyst's program
// may link: package basis makes a basis of a [Spec], a contract holds one.
package spec

import (
	"slices"

	"concord/internal/field"
)

// The kinds. F = V E: V are orthonormal directions (m × l), E mixes them (l × l).
const (
	// SVD takes the top l right singular vectors of the rows X ([nosaka2025], eq. (1)).
	SVD = "svd"
	// PCA takes the top l principal components of X: the right singular vectors of X minus
	// its column means. The map stays linear, X F without centring.
	PCA = "pca"
	// Perturbed is PCA of X + δ N, N with independent standard normal elements ([nosaka2024mm], section 4.1;
	// [imakura2023], section 5.2, perturbs too): rows alone do not determine V, and with N gone nobody can
	// repeat it.
	Perturbed = "pca-perturbed"
	// Scrambled is PCA mixed by a matrix that is not orthogonal ([imakura2023], section 6.1).
	Scrambled = "scrambled"
	// Random does not look at the rows.
	Random = "random"
	// CommonRandom is Random with directions that follow from the parties' seed, the same
	// for all, and that each party mixes by itself.
	CommonRandom = "common-random"
	// Common has the directions of the pooled second moments, the same for all.
	Common = "common"
)

// Mix says what E is.
type Mix string

// The mixes. Only Haar keeps the columns of F orthonormal and hides V's.
const (
	Haar    Mix = "haar"    // Haar-random in O(l) ([nosaka2025], eq. (1))
	Uniform Mix = "uniform" // independent, uniform on [0, 1): breaks what ODC assumes ([nosaka2025], section V)
	Normal  Mix = "normal"  // independent, standard normal ([imakura2023], section 6.1)
	None    Mix = "none"    // E = I, F = V ([nosaka2024mm]): published figures need it, no study should
)

// Mixes lists them.
func Mixes() []Mix { return []Mix{Haar, Uniform, Normal, None} }

// Origin says whose the directions V are.
type Origin int

// The origins.
const (
	Own    Origin = iota // each party's: of its rows, or drawn by itself
	Seed                 // of the parties' seed, the same for all
	Pooled               // of what the parties pooled, the same for all
)

// Kind is what a kind's name stands for.
type Kind struct {
	Name string
	// Directions is the kind by which V is made: SVD, PCA, Perturbed or Random; "" where V
	// is pooled.
	Directions string
	From       Origin
	Mix        Mix
}

var kinds = []Kind{
	{SVD, SVD, Own, Haar},
	{PCA, PCA, Own, Haar},
	{Perturbed, Perturbed, Own, Haar},
	{Scrambled, PCA, Own, Normal},
	{Random, Random, Own, None}, // V is Haar-random itself
	{CommonRandom, Random, Seed, Haar},
	{Common, "", Pooled, Haar},
}

// Kinds lists the names of all kinds.
func Kinds() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.Name
	}
	return out
}

// Named is the kind of a name.
func Named(name string) (Kind, bool) {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		return Kind{}, false
	}
	return kinds[i], true
}

// Spec says how each party chooses its secret basis.
type Spec struct {
	// Kind is one of [Kinds].
	Kind string `json:"kind" yaml:"kind"`
	// Dim is l.
	Dim int `json:"dim" yaml:"dim"`
	// Delta is δ of pca-perturbed: the standard deviation of the noise on standardised rows.
	Delta float64 `json:"delta,omitempty" yaml:"delta"`
}

// Limits and defaults.
const (
	// MaxDelta is the most noise of any kind that has some.
	MaxDelta = 10
	// DefaultDelta is the noise of published experiments ([nosaka2024mm], section 4.1).
	DefaultDelta = 0.05
)

// Check says what is wrong with s by itself, as a *[FieldError]. That l is smaller than the
// number of columns is for whoever knows these.
func (s Spec) Check() error {
	if err := field.OneOf("kind", s.Kind, Kinds()); err != nil {
		return err
	}
	if s.Dim < 1 {
		return field.Between("dim", s.Dim, 1, MaxDim)
	}
	if s.Kind == Perturbed {
		return field.Above("delta", s.Delta, MaxDelta)
	}
	return field.Only("delta", s.Delta, s.Delta != 0, s.Kind, Perturbed)
}

// MaxDim bounds l and the columns of a lift.
const MaxDim = 100_000

// Defaults are those of the kind, for rows that vary in so many directions.
func (s Spec) Defaults(directions int) Spec {
	d := Spec{Kind: s.Kind, Dim: max(1, directions*8/10)}
	if s.Kind == Perturbed {
		d.Delta = DefaultDelta
	}
	return d
}

// Independent says whether the basis does not look at the rows.
func (s Spec) Independent() bool { return s.Kind == Random || s.Kind == CommonRandom }

// Pooled says whether the directions are of what the parties pooled.
func (s Spec) Pooled() bool { return s.Kind == Common }

// OneWay says whether the kind is made so that nobody can make the basis again, not even
// from the same rows.
func (s Spec) OneWay() bool { return s.Kind == Perturbed || s.Kind == Scrambled }

// Lift is the map to random Fourier features before the basis.
type Lift struct {
	// Dim is how many there are, D.
	Dim int `json:"dim"`
	// Gamma is that of the kernel exp(−γ‖x − y‖²) which they approximate.
	Gamma float64 `json:"gamma"`
}

// MaxGamma is the largest γ.
const MaxGamma = 1e6

// Check says what is wrong with l by itself, as a *[FieldError].
func (l Lift) Check() error {
	if err := field.Between("dim", l.Dim, 2, MaxDim); err != nil {
		return err
	}
	return field.Above("gamma", l.Gamma, MaxGamma)
}

// FieldError is what Check returns.
type FieldError = field.Error
