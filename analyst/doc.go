// Package analyst holds the analyst's local steps, as synchronous pure
// functions: [Align] the contributions of a study by their anchor images,
// [Train] one model on the aligned rows.
//
//	Ã₁ … Ã_c ── Align ──► G₁ … G_c
//	X̃ᵢ, Gᵢ, Yᵢ ── Train ──► h on the stacked X̂ᵢ = X̃ᵢ Gᵢ
//
// ([imakura2023], algorithm 1, steps 5 to 7; [nosaka2025], section II-A; docs/methods.md
// section 2.) It does no I/O: a server or a folder brings the contributions.
//
// The package knows neither the anchor nor any basis, and cannot link the packages that
// make them (deps_test.go). That keeps mistakes out; what keeps an analyst out is that the
// parties' secrets are sealed to parties. What an analyst can do with what it has is in
// docs/methods.md section 7.1.
package analyst
