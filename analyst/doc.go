// Package analyst holds the analyst's local steps, as synchronous pure
// functions: [Align] the contributions of a study by their anchor images,
// [Train] one model on the aligned rows.
//
//	Ã₁ … Ã_c ── Align ──► G₁ … G_c
//	X̃ᵢ, Gᵢ, Yᵢ ── Train ──► h on the stacked X̂ᵢ = X̃ᵢ Gᵢ
//
// (NRI Algorithm 1 steps 5 to 7; ODC2 §II-A.) The package knows neither the
// anchor nor any basis, and cannot link the packages that make them. It does no
// I/O: a server or a folder brings the contributions.
package analyst
