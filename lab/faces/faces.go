// Package faces draws what Data Collaboration makes of pictures: the originals, the
// numbers that leave, what a basis keeps, what collusion gives back, and pictures with
// Gaussian noise, side by side (after [nosaka2025], figures 2 and 5), with the error of each
// guess and the share of guesses that lead to the right picture.
//
// Start with [Run], whose [Report] writes itself: [Report.Figure], [Report.HTML],
// [Report.Markdown], [Report.JSON].
//
// Nobody can make out the published projections, which holds for the numbers that leave;
// whoever knows the basis sees faces. Both are drawn here.
// The package runs simple attacks and does not bound better ones. It sees everything at
// once, as the laboratory does.
package faces

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"concord/lab"
	"concord/lab/dataset"
	"concord/privacy"
)

// Delta is δ of the Gaussian noise ([nosaka2025], section V-C).
const Delta = 1e-3

// Sensitivity is Δ of the noise: that of one pixel between 0 and 1. [nosaka2025] does not state
// its own; pictures that can be recognised at ε = 8 imply that of a pixel.
const Sensitivity = 1

// pictured is the most faces that a row of the figure has.
const pictured = 6

// The parties whose parts are played: the analyst and Colluding together attack
// Attacked. Parties count from 1.
const (
	Colluding = 1
	Attacked  = 2
)

// Options say what is drawn. The zero value is the published one as far as that is known.
type Options struct {
	// Seed is that of everything random.
	Seed uint64
	// Parties is c, at least 2; 0 means 4.
	Parties int
	// Rows is n, the pictures of each party, at least 2; 0 means all pictures, divided
	// evenly.
	Rows int
	// Dims are l, each from 1 to the pixels m; none means 20, 60 and 200. A dimension
	// above what the rows span is cut to that, with a note.
	Dims []int
	// Epsilons are those of the noise; none means [nosaka2025]'s 0.5, 2 and 8.
	Epsilons []float64
}

// What a row of the figure shows.
const (
	Original  = "original"
	Leaves    = "leaves"         // X F, what the analyst gets
	Projected = "projected"      // X F F⁺, what the basis keeps
	Collusion = "collusion"      // the same by A⁺(A F), from what two others hold
	Around    = "collusion-mean" // and the mean where the basis says nothing
	Noised    = "dp"             // X and Gaussian noise
	Denoised  = "dp-denoised"    // the best linear guess from it
)

// The bases.
const (
	Common = "common" // F_i = V E_i: one span for all parties
	Own    = "own"    // F_i = V_i E_i: V_i of the party's own rows
)

// Row is one row of the figure, and its line in the table.
type Row struct {
	// Kind is one of Original to Denoised; Basis is Common or Own, or empty where there
	// is none; Dim is l, or 0; Epsilon and Sigma are those of noise, or 0.
	Kind    string  `json:"kind"`
	Basis   string  `json:"basis,omitempty"`
	Dim     int     `json:"dim,omitempty"`
	Epsilon float64 `json:"epsilon,omitempty"`
	Sigma   float64 `json:"sigma,omitempty"`
	// Name is a caption, Knows says who sees this and what it takes.
	Name  string `json:"name"`
	Knows string `json:"knows"`
	// Guess tells how good a guess of the pictures this is; nil for what leaves, whose
	// numbers are no pixels.
	Guess *Guess `json:"guess"`
	// cells are the pictures, grey levels from 0 to 1.
	cells [][]float64
}

// Guess is what guesses of all pictures of the attacked party are worth.
type Guess struct {
	// Unexplained is 1 − R² over all pixels, each in units of its deviation: 0 is
	// exact, 1 as good as the mean (see privacy.Compare).
	Unexplained float64 `json:"unexplained"`
	// Linked is the share of guesses nearest to their own original among the party's
	// (see privacy.Linkage), Median the median place of the own one.
	Linked float64 `json:"linked"`
	Median float64 `json:"median_place"`
}

// Report is what [Run] found.
type Report struct {
	// Command is what made the report, to be shown; the caller's to fill in.
	Command string `json:"command,omitempty"`
	// Data names the set; Width and Height are its pictures' pixels, Features = m.
	Data     string `json:"data"`
	StandIn  string `json:"stand_in,omitempty"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Features int    `json:"features"`
	// Seed, Parties, PartyRows and Asked are the options, resolved.
	Seed      uint64 `json:"seed"`
	Parties   int    `json:"parties"`
	PartyRows int    `json:"party_rows"`
	Asked     []int  `json:"dims"`
	// AnchorRows is a, of a uniform anchor.
	AnchorRows int `json:"anchor_rows"`
	// Delta, Sensitivity and PictureSensitivity are those of the noise; the last is √m,
	// what a whole picture would need.
	Delta              float64 `json:"delta"`
	Sensitivity        float64 `json:"sensitivity_pixel"`
	PictureSensitivity float64 `json:"sensitivity_picture"`
	// Chance is the share that is linked by guessing blindly, 1/n.
	Chance float64 `json:"chance"`
	Rows   []Row   `json:"rows"`
	// Notes are sentences: what was cut.
	Notes []string `json:"notes,omitempty"`

	epsilons []float64
}

// Run divides the pictures of d over parties at random and makes every row for those of
// party [Attacked]. The same data and options give the same report, up to rounding of
// the linear algebra.
//
// Errors: data that are no pictures, options out of range, too few pictures, and the
// context's if it ends. The anchor has a = ⌈5m/4⌉ rows; recovering the bases from it
// costs O(a m²) time and a·m numbers three times over, which is half a minute
// and half a gigabyte for 64 × 64 pixels.
func Run(ctx context.Context, d *dataset.Data, opt Options) (*Report, error) {
	r, err := resolve(d, opt)
	if err != nil {
		return nil, err
	}
	n, m := d.X.Dims()
	sizes := slices.Repeat([]int{r.PartyRows}, r.Parties)
	parts, _, err := lab.Partition(n, sizes, rand.New(lab.Stream(r.Seed, "faces", "split")))
	if err != nil {
		return nil, err
	}
	s := &scene{Report: r, shown: shown(d.Y.Labels, parts[Attacked-1]), chosen: map[string][]int{}}
	s.all, _ = d.Take(slices.Concat(parts...))
	part := func(i int) *mat.Dense {
		return s.all.Slice((i-1)*r.PartyRows, i*r.PartyRows, 0, m).(*mat.Dense)
	}
	s.x, s.other = part(Attacked), part(Colluding)

	if err := s.guess(Row{Kind: Original, Name: "original", Knows: "the party itself"}, s.x); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{s.bases, s.noise} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// resolve checks the options and fills in what they leave out.
func resolve(d *dataset.Data, opt Options) (*Report, error) {
	n, m := d.X.Dims()
	if d.Width < 1 || d.Height < 1 || d.Width*d.Height != m {
		return nil, fmt.Errorf("faces: the rows of %s are no grey pictures", d.Name)
	}
	r := &Report{
		Data: d.Name, StandIn: d.StandIn, Width: d.Width, Height: d.Height, Features: m,
		Seed: opt.Seed, Parties: opt.Parties, PartyRows: opt.Rows, Asked: slices.Clone(opt.Dims),
		AnchorRows: m + (m+3)/4, Delta: Delta, Sensitivity: Sensitivity, PictureSensitivity: Sensitivity * math.Sqrt(float64(m)),
		epsilons: slices.Clone(opt.Epsilons),
	}
	if r.Parties == 0 {
		r.Parties = 4
	}
	if len(r.Asked) == 0 {
		for _, l := range []int{20, 60, 200} {
			r.Asked = append(r.Asked, min(l, m))
		}
	}
	if len(r.epsilons) == 0 {
		r.epsilons = []float64{0.5, 2, 8}
	}
	slices.Sort(r.Asked)
	r.Asked = slices.Compact(r.Asked)
	if r.Parties < 2 {
		return nil, fmt.Errorf("faces: %d parties, at least 2 are needed: one is attacked, one colludes", r.Parties)
	}
	if r.PartyRows == 0 {
		r.PartyRows = n / r.Parties
	}
	switch {
	case opt.Rows < 0:
		return nil, fmt.Errorf("faces: %d pictures a party, must not be negative", opt.Rows)
	case r.PartyRows < 2:
		return nil, fmt.Errorf("faces: %d pictures for each of %d parties out of %d, at least 2 are needed", r.PartyRows, r.Parties, n)
	case r.PartyRows > n/r.Parties:
		return nil, fmt.Errorf("faces: %d pictures for each of %d parties, %s has %d: %d for each at most", r.PartyRows, r.Parties, d.Name, n, n/r.Parties)
	case r.Asked[0] < 1:
		return nil, fmt.Errorf("faces: dimension %d, must be at least 1", r.Asked[0])
	case r.Asked[len(r.Asked)-1] > m:
		return nil, fmt.Errorf("faces: dimension %d, must be at most the %d pixels of a picture", r.Asked[len(r.Asked)-1], m)
	}
	for _, eps := range r.epsilons {
		if _, err := privacy.Sigma(eps, Delta, Sensitivity); err != nil {
			return nil, fmt.Errorf("faces: %v", err)
		}
	}
	r.Chance = 1 / float64(r.PartyRows)
	return r, nil
}

// scene is a run under way.
type scene struct {
	*Report
	all      *mat.Dense // the rows of all parties, (c n) × m
	x, other *mat.Dense // those of the attacked and of the colluding party, n × m
	shown    []int      // the rows of x that are drawn
	chosen   map[string][]int
}

// shown chooses the first pictures of different people, and more if people run out.
func shown(labels, rows []int) []int {
	var first, again []int
	seen := map[int]bool{}
	for k, i := range rows {
		if i < len(labels) && seen[labels[i]] {
			again = append(again, k)
			continue
		}
		if i < len(labels) {
			seen[labels[i]] = true
		}
		first = append(first, k)
	}
	return append(first, again...)[:min(pictured, len(rows))]
}

// guess adds a row whose guesses of the attacked party's pictures are x (n × m).
func (s *scene) guess(row Row, x *mat.Dense) error {
	errs, err := privacy.Compare(s.x, x)
	if err != nil {
		return err
	}
	link, err := privacy.Linkage(s.x, x, s.PartyRows, lab.Stream(s.Seed, "faces", "link"))
	if err != nil {
		return err
	}
	row.Guess = &Guess{Unexplained: errs.Unexplained, Linked: link.Rate, Median: link.Median}
	for _, k := range s.shown {
		row.cells = append(row.cells, slices.Clone(x.RawRowView(k)))
	}
	s.Rows = append(s.Rows, row)
	return nil
}
