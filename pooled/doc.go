// Package pooled says what the parties of a study sum by package masked, and what follows
// from the sums: the pooled figures of every feature, by which all prepare their rows
// alike, and the common directions V (m × l) of all rows together.
//
// Start with [New]. For each stage of [contract.Contract.Stages], in order, [Pool.Local] makes
// this party's vector, package masked sums it, and [Pool.Take] takes the sums in;
// [Warnings] and [Told] say in words what people should know before and after. After the last stage of a
// common basis the party that comes first in the roster makes V with [Pool.Directions] and
// seals it to the others, and every party, itself included, takes it with
// [Pool.TakeDirections], which refuses a V that does not follow from the sums.
//
// The stages are those of docs/methods.md sections 9.3 and 9.4:
//
//	figures   counts, missing values, sums and squares, counts of levels → means, variances
//	moments   Zᵢᵀ Zᵢ of the prepared rows Zᵢ (nᵢ × m), or Zᵢᵀ Zᵢ/nᵢ      → S = Σ
//	sketch k  Zᵢᵀ (Zᵢ Q_k), Q₀ from the parties' seed, Q_k of the last sum  → Y_k = S Q_k
//
// and V are the l leading eigenvectors of S, or of what Y_k and Q_k say of it ([halko2011];
// [tropp2017]).
//
// All numbers of the analysis that a party computes for itself from the sums have the same
// bits at every party; V, which a library's eigenvectors make, is therefore sent.
//
// The package opens no file and sends nothing. What is pooled is the parties' own: the
// analyst gets neither figures nor V, and its programs do not link this package.
package pooled
