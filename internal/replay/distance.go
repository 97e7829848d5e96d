package replay

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/analyst"
	"concord/bundle"
	"concord/npy"
	"concord/onnx"
	"concord/release"
)

// distance says how far two results are from each other: numbers relative to the
// largest of their kind, labels by their share.
type distance struct {
	parts []string
	worst float64
	err   error
}

// String says it for people.
func (d distance) String() string {
	if d.err != nil {
		return fmt.Sprintf("the numbers cannot be compared: %v", d.err)
	}
	return strings.Join(d.parts, ", ")
}

func (d distance) within(tolerance float64) bool { return d.err == nil && d.worst <= tolerance }

func (d *distance) add(what string, v float64) {
	d.parts = append(d.parts, fmt.Sprintf("%s differ by %.2g", what, v))
	if d.worst = max(d.worst, v); math.IsNaN(v) {
		d.worst = math.Inf(1)
	}
}

// distance compares a stored result with one computed again: the change of basis, the
// scores of the two models on the party's own aligned rows, or the answers, and the
// metrics.
func (r *replay) distance(stored *bundle.Reader, part analyst.Contribution, members []bundle.Source) distance {
	var d distance
	if r.contract.Protocol == "nri" {
		d.err = r.answersApart(&d, stored, members)
	} else {
		d.err = r.modelsApart(&d, stored, part, members)
	}
	if d.err == nil {
		d.err = metricsApart(&d, stored, members)
	}
	return d
}

func (r *replay) modelsApart(d *distance, stored *bundle.Reader, part analyst.Contribution, members []bundle.Source) error {
	_, l := part.A.Dims()
	lim := npy.Limits{Rows: l, Cols: r.contract.D()}
	was, err := stored.Matrix(release.MemberG, lim)
	if err != nil {
		return err
	}
	b, err := content(members, release.MemberG)
	if err != nil {
		return err
	}
	now, err := npy.ReadMatrix(b, lim)
	if err != nil {
		return err
	}
	apart, err := matricesApart(was, now)
	if err != nil {
		return err
	}
	d.add("G", apart)
	raw, err := stored.Bytes(release.MemberModel, onnx.MaxBytes)
	if err != nil {
		return err
	}
	scoresWas, err := scores(raw, part.X, was)
	if err != nil {
		return err
	}
	if b, err = content(members, release.MemberModel); err != nil {
		return err
	}
	if raw, err = io.ReadAll(b); err != nil {
		return err
	}
	scoresNow, err := scores(raw, part.X, now)
	if err != nil {
		return err
	}
	if apart, err = matricesApart(scoresWas, scoresNow); err != nil {
		return err
	}
	d.add("scores of its own rows", apart)
	return nil
}

// scores are those of a model on X̃ᵢ Gᵢ.
func scores(model []byte, x, g *mat.Dense) (*mat.Dense, error) {
	h, err := onnx.Decode(model)
	if err != nil {
		return nil, err
	}
	var aligned mat.Dense
	aligned.Mul(x, g)
	out, err := h.Run(&aligned)
	return out.Scores, err
}

func (r *replay) answersApart(d *distance, stored *bundle.Reader, members []bundle.Source) error {
	b, err := content(members, release.MemberAnswers)
	if err != nil {
		return err
	}
	rows := r.contract.Anchor.Rows
	if r.contract.Answers == "hard" {
		was, err := stored.Ints(release.MemberAnswers, npy.Limits{Rows: rows})
		if err != nil {
			return err
		}
		now, err := npy.ReadInts(b, npy.Limits{Rows: rows})
		if err != nil {
			return err
		}
		if len(was) != len(now) {
			return fmt.Errorf("%d answers were %d", len(now), len(was))
		}
		other := 0
		for i := range was {
			if was[i] != now[i] {
				other++
			}
		}
		d.add("answers", float64(other)/float64(max(1, len(was))))
		return nil
	}
	lim := npy.Limits{Rows: rows, Cols: max(1, len(r.contract.Label.Levels))}
	was, err := stored.Matrix(release.MemberAnswers, lim)
	if err != nil {
		return err
	}
	now, err := npy.ReadMatrix(b, lim)
	if err != nil {
		return err
	}
	apart, err := matricesApart(was, now)
	if err != nil {
		return err
	}
	d.add("answers", apart)
	return nil
}

func metricsApart(d *distance, stored *bundle.Reader, members []bundle.Source) error {
	raw, err := stored.Bytes(release.MemberMetrics, release.MaxOutcomeBytes)
	if err != nil {
		return err
	}
	was, err := release.DecodeOutcome(raw)
	if err != nil {
		return err
	}
	b, err := content(members, release.MemberMetrics)
	if err != nil {
		return err
	}
	if raw, err = io.ReadAll(b); err != nil {
		return err
	}
	now, err := release.DecodeOutcome(raw)
	if err != nil {
		return err
	}
	if len(was.Metrics) != len(now.Metrics) || was.Rows != now.Rows {
		return fmt.Errorf("%d metrics of %d rows were %d of %d", len(now.Metrics), now.Rows, len(was.Metrics), was.Rows)
	}
	worst := 0.0
	for i, m := range was.Metrics {
		if m.Name != now.Metrics[i].Name {
			return fmt.Errorf("metric %q was %q", now.Metrics[i].Name, m.Name)
		}
		worst = max(worst, math.Abs(m.Value-now.Metrics[i].Value)/max(1, math.Abs(m.Value)))
	}
	d.add("metrics", worst)
	return nil
}

// matricesApart is max |aᵢⱼ − bᵢⱼ| / max(|aᵢⱼ|, tiny).
func matricesApart(a, b *mat.Dense) (float64, error) {
	n, k := a.Dims()
	if nb, kb := b.Dims(); nb != n || kb != k {
		return 0, fmt.Errorf("a matrix of %d × %d was %d × %d", nb, kb, n, k)
	}
	var diff, size float64
	for i := range n {
		x, y := a.RawRowView(i), b.RawRowView(i)
		for j := range x {
			size = max(size, math.Abs(x[j]))
			if diff = max(diff, math.Abs(x[j]-y[j])); math.IsNaN(x[j] - y[j]) {
				return math.NaN(), nil
			}
		}
	}
	return diff / max(size, math.SmallestNonzeroFloat64), nil
}
