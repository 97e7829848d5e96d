// Package onnx is Concord's one model format: models as ONNX graphs, written,
// joined, read and run.
//
// [FromModel] turns a fitted model h into a [Graph]; the analyst sends its
// [Graph.Encode]. A party reads it with [Decode] and puts its own steps in front
// with [Assemble]:
//
//	features → fill gaps → encode levels → (x − centre) / scale → × F G → h → scores, label
//
// The result scores the same through [Graph.Run] and in any ONNX runtime.
//
// # What a graph is
//
// A graph has one input, features (N × m, float32, N free), the output scores
// (N × k, float32) and, for classification, the output label (N, int64, an
// index into the classes). Between them stands a sequence of operators out of a
// short list, with float32 constants and a few whole numbers:
//
//	arithmetic   Add Sub Mul Div MatMul Gemm Concat Identity Abs Sign Exp Cos Relu Sigmoid Softmax ArgMax
//	gaps         IsNaN Where, of the input alone
//	levels       Equal Cast
//	neighbours   TopK Gather ReduceSum
//	trees        TreeEnsembleRegressor, of the operator set ai.onnx.ml
//
// There are no loops, branches, functions, custom operators, random numbers or
// files outside, every width is known before anything is computed, and every
// constant and every value is used (the distances beside the indices of TopK
// excepted). A tree is one: each node has one parent, before it, and every walk
// ends in a leaf. A graph that came from elsewhere can do nothing but arithmetic
// of bounded size. Decode refuses everything else, unknown fields included, and
// Run refuses results that leave the range of float32, and NaN in the input where
// nothing fills it.
//
// # Limits
//
// A file has at most 256 MiB, a value 2²⁰ columns, a graph 4,096 operators and
// 2²⁸ multiplications and comparisons a row. The trees of an operator have at
// most 2²² nodes and 2²³ numbers in their leaves.
//
// # Precision
//
// The input is rounded to float32 as the format demands; between the
// constants, which are float32, Run computes in float64. A float32 runtime
// rounds after every operator: expect 1e-5 of the largest intermediate number,
// hence 1e-4 on probabilities of standardised features.
//
// Trees, nearest neighbours and the votes of a kernel machine are steps: where a
// number lies within that rounding of a threshold, of another distance, or of a
// decision of 0, a runtime may take the other side. Trees on inputs that were not
// computed, but are as they were given, find the same leaves everywhere, and the
// shares in the leaves of a [learn.Forest] have exact sums: classes with equal
// votes tie in every runtime, and the first of them wins.
//
// # What it does not do
//
// It is no general reader of ONNX files, and it hides nothing: see [Assemble]
// on what the product F G tells, and [FromModel] on graphs that contain training
// rows. It does not know the names of levels: what reads the data turns them into
// indices, which [Meta] explains.
//
// The format is that of onnx.ai, IR.md, Operators.md and
// Operators-ml.md: IR version 8, operator set 13, and with trees ai.onnx.ml 3.
package onnx
