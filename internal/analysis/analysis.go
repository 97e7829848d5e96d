// Package analysis is what the analyst does with a study's contributions between
// opening them and sealing the results: the server does it once, and an auditor's
// replay the same again.
//
// Start with [Read] for each contribution, in the roster's order, and [Results].
// Nothing here stores or sends anything.
package analysis

import (
	"context"
	"io"

	"filippo.io/age"
	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/analyst"
	"concord/bundle"
	"concord/contract"
	"concord/npy"
	"concord/onnx"
	"concord/release"
	"concord/wire"
)

// Untrainable is a failure that lies in the contributions, and would come again.
type Untrainable struct{ Err error }

// Error gives the reason.
func (e *Untrainable) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Untrainable) Unwrap() error { return e.Err }

// Read opens the contribution of a party, which want describes, compares it with the
// contract and returns it, whole in memory.
func Read(c *contract.Contract, party string, file io.ReaderAt, size int64, want bundle.Expect, identities ...age.Identity) (analyst.Contribution, error) {
	out := analyst.Contribution{Party: party}
	r, err := bundle.Open(file, size, want, identities...)
	if err != nil {
		return out, err
	}
	out.Anchor, out.View = *r.Manifest.Anchor, r.Manifest.View
	rows, l := c.MaxRows, c.Basis.Dim
	if out.X, err = r.Matrix(release.MemberX, npy.Limits{Rows: rows, Cols: l, Bytes: bundle.DefaultBytes}); err != nil {
		return out, err
	}
	if out.A, err = r.Matrix(release.MemberA, npy.Limits{Rows: c.Anchor.Rows, Cols: l}); err != nil {
		return out, err
	}
	if c.Label.Type == "class" {
		out.Labels, err = r.Ints(release.MemberY, npy.Limits{Rows: rows})
	} else {
		out.Values, err = r.Matrix(release.MemberY, npy.Limits{Rows: rows, Cols: 1})
	}
	if err != nil {
		return out, err
	}
	return out, out.Check(c)
}

// Results computes the members of every party's result, in the order of parts: Gᵢ, the
// model and what was measured, or under nri the answers. What lies in the contributions
// is an *Untrainable.
func Results(ctx context.Context, c *contract.Contract, epoch wire.Hash, parts []analyst.Contribution) ([][]bundle.Source, error) {
	m, err := Make(ctx, c, epoch, parts, nil)
	if err != nil {
		return nil, err
	}
	return m.Results, nil
}

// Made is a model and all that the analyst keeps of how it came.
type Made struct {
	// Results are the members of every party's result, in the order of parts.
	Results [][]bundle.Source
	// G are the changes of basis, Target is what a party that comes later is aligned to.
	G      []*mat.Dense
	Target *mat.Dense
	// Model is h as ONNX, Outcome what was measured, encoded.
	Model, Outcome []byte
}

// Make is Results with what the analyst keeps. With g, the changes of basis of all
// parties, nothing is aligned: only the model is trained.
func Make(ctx context.Context, c *contract.Contract, epoch wire.Hash, parts []analyst.Contribution, g []*mat.Dense) (*Made, error) {
	aligned := &align.Result{G: g}
	if g == nil {
		var err error
		if aligned, err = analyst.Align(c, epoch, parts); err != nil {
			return nil, &Untrainable{err}
		}
	}
	trained, err := analyst.Train(ctx, c, epoch, parts, aligned)
	if err != nil {
		return nil, &Untrainable{err}
	}
	outcome, err := trained.Outcome.Encode()
	if err != nil {
		return nil, err
	}
	h, err := onnx.FromModel(trained.Model)
	if err != nil {
		return nil, &Untrainable{err}
	}
	m := &Made{G: aligned.G, Target: analyst.Target(parts, aligned.G), Model: h.Encode(), Outcome: outcome}
	if c.Protocol == "nri" {
		m.Results, err = answers(c, trained, parts, aligned, outcome)
		return m, err
	}
	for _, g := range m.G {
		m.Results = append(m.Results, resultMembers(g, m.Model, outcome))
	}
	return m, nil
}

func resultMembers(g *mat.Dense, model, outcome []byte) []bundle.Source {
	return append(bundle.FromMatrix(release.MemberG, g), bundle.FromBytes(release.MemberModel, model), bundle.FromBytes(release.MemberMetrics, outcome))
}

// Late computes the members of the result of a party that comes after a model was made:
// it is aligned to the model's target, nobody else's change of basis moves, and it gets
// the model that the others have, or under nri its answers.
func Late(c *contract.Contract, target *mat.Dense, model, outcome []byte, p analyst.Contribution) (members []bundle.Source, g *mat.Dense, err error) {
	g, notes, err := analyst.AlignLate(c, target, p)
	if err != nil {
		return nil, nil, &Untrainable{err}
	}
	if len(notes) > 0 {
		o, err := release.DecodeOutcome(outcome)
		if err != nil {
			return nil, nil, err
		}
		o.Notes = append(o.Notes, notes...)
		if outcome, err = o.Encode(); err != nil {
			return nil, nil, err
		}
	}
	if c.Protocol != "nri" {
		return resultMembers(g, model, outcome), g, nil
	}
	h, err := onnx.Decode(model)
	if err != nil {
		return nil, nil, err
	}
	var aligned mat.Dense
	aligned.Mul(p.A, g)
	out, err := h.Run(&aligned)
	if err != nil {
		return nil, nil, &Untrainable{err}
	}
	if c.Answers == "soft" {
		members = bundle.FromMatrix(release.MemberAnswers, out.Scores)
	} else {
		labels := make([]int64, len(out.Labels))
		for i, k := range out.Labels {
			labels[i] = int64(k)
		}
		members = []bundle.Source{bundle.FromInts(release.MemberAnswers, labels)}
	}
	return append(members, bundle.FromBytes(release.MemberMetrics, outcome)), g, nil
}

// answers are the results under nri: neither Gᵢ nor the model leaves.
func answers(c *contract.Contract, trained *analyst.Trained, parts []analyst.Contribution, g *align.Result, outcome []byte) ([][]bundle.Source, error) {
	all, err := analyst.Answer(c, trained.Model, parts, g)
	if err != nil {
		return nil, &Untrainable{err}
	}
	results := make([][]bundle.Source, len(all))
	for i, a := range all {
		if a.Scores != nil {
			results[i] = bundle.FromMatrix(release.MemberAnswers, a.Scores)
		} else {
			results[i] = []bundle.Source{bundle.FromInts(release.MemberAnswers, a.Labels)}
		}
		results[i] = append(results[i], bundle.FromBytes(release.MemberMetrics, outcome))
	}
	return results, nil
}
