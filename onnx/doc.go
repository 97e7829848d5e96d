// Package onnx is Concord's one model format: models as ONNX graphs, written,
// joined, read and run.
//
// [FromModel] turns a fitted model h into a [Graph]; the analyst sends its
// [Graph.Encode]. A party reads it with [Decode] and puts its own steps in front
// with [Assemble]:
//
//	features → (x − centre) / scale → × F G → h → scores, label
//
// The result scores the same through [Graph.Run] and in any ONNX runtime.
//
// # What a graph is
//
// A graph has one input, features (N × m, float32, N free), the output scores
// (N × k, float32) and, for classification, the output label (N, int64, an
// index into the classes). Between them stands a sequence of operators out of a
// short list, with float32 constants. There are no loops, branches, functions,
// custom operators, random numbers or files outside, every width is known
// before anything is computed, and every constant and every value is used: a
// graph that came from elsewhere can do nothing but arithmetic of bounded size.
// Decode refuses everything else, unknown fields included, and Run refuses
// results that leave the range of float32.
//
// # Precision
//
// The input is rounded to float32 as the format demands; between the
// constants, which are float32, Run computes in float64. A float32 runtime
// rounds after every operator: expect 1e-5 of the largest intermediate number,
// hence 1e-4 on probabilities of standardised features.
//
// # What it does not do
//
// It is no general reader of ONNX files, and it hides nothing: see [Assemble]
// on what the product F G tells.
//
// The format is that of onnx.ai, docs/IR.md and docs/Operators.md: IR version 8,
// operator set 13.
package onnx
