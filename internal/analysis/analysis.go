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

	"concord/align"
	"concord/analyst"
	"concord/bundle"
	"concord/internal/npy"
	"concord/onnx"
	"concord/study"
)

// Untrainable is a failure that lies in the contributions, and would come again.
type Untrainable struct{ Err error }

// Error gives the reason.
func (e *Untrainable) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Untrainable) Unwrap() error { return e.Err }

// Read opens the contribution of a party, which want describes, compares it with the
// contract and returns it, whole in memory.
func Read(c *study.Contract, party string, file io.ReaderAt, size int64, want bundle.Expect, identities ...age.Identity) (analyst.Contribution, error) {
	out := analyst.Contribution{Party: party}
	r, err := bundle.Open(file, size, want, identities...)
	if err != nil {
		return out, err
	}
	out.Anchor = *r.Manifest.Anchor
	rows, l := c.MaxRows, c.Basis.Dim
	if out.X, err = r.Matrix(study.MemberX, npy.Limits{Rows: rows, Cols: l, Bytes: bundle.DefaultBytes}); err != nil {
		return out, err
	}
	if out.A, err = r.Matrix(study.MemberA, npy.Limits{Rows: c.Anchor.Rows, Cols: l}); err != nil {
		return out, err
	}
	if c.Label.Type == "class" {
		out.Labels, err = r.Ints(study.MemberY, npy.Limits{Rows: rows})
	} else {
		out.Values, err = r.Matrix(study.MemberY, npy.Limits{Rows: rows, Cols: 1})
	}
	if err != nil {
		return out, err
	}
	return out, out.Check(c)
}

// Results computes the members of every party's result, in the order of parts: Gᵢ, the
// model and what was measured, or under nri the answers. What lies in the contributions
// is an *Untrainable.
func Results(ctx context.Context, c *study.Contract, epoch study.Hash, parts []analyst.Contribution) ([][]bundle.Source, error) {
	g, err := analyst.Align(c, epoch, parts)
	if err != nil {
		return nil, &Untrainable{err}
	}
	trained, err := analyst.Train(ctx, c, epoch, parts, g)
	if err != nil {
		return nil, &Untrainable{err}
	}
	outcome, err := trained.Outcome.Encode()
	if err != nil {
		return nil, err
	}
	if c.Protocol == "nri" {
		return answers(c, trained, parts, g, outcome)
	}
	h, err := onnx.FromModel(trained.Model)
	if err != nil {
		return nil, &Untrainable{err}
	}
	results := make([][]bundle.Source, len(parts))
	for i := range parts {
		results[i] = append(bundle.FromMatrix(study.MemberG, g.G[i]),
			bundle.FromBytes(study.MemberModel, h.Encode()), bundle.FromBytes(study.MemberMetrics, outcome))
	}
	return results, nil
}

// answers are the results under nri: neither Gᵢ nor the model leaves.
func answers(c *study.Contract, trained *analyst.Trained, parts []analyst.Contribution, g *align.Result, outcome []byte) ([][]bundle.Source, error) {
	all, err := analyst.Answer(c, trained.Model, parts, g)
	if err != nil {
		return nil, &Untrainable{err}
	}
	results := make([][]bundle.Source, len(all))
	for i, a := range all {
		if a.Scores != nil {
			results[i] = bundle.FromMatrix(study.MemberAnswers, a.Scores)
		} else {
			results[i] = []bundle.Source{bundle.FromInts(study.MemberAnswers, a.Labels)}
		}
		results[i] = append(results[i], bundle.FromBytes(study.MemberMetrics, outcome))
	}
	return results, nil
}
