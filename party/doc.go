// Package party holds the local steps of a data holder, as synchronous pure
// functions: [Check] its table against the contract's floors, [Prepare] what
// would leave, [Accept] what comes back.
//
//	X (n × m) ── Prepare ──► X̃ = P X F, Ã = A F, P Y   leave, P a row permutation
//	                         F                          stays
//	G, h      ── Accept ───► x ↦ h(((x − c)/s) F G)     one ONNX graph
//
// That is plain DC ([imakura2023], algorithm 1; [nosaka2025], section II-A;
// docs/methods.md section 2.1). Under nri (section 2.2) F is gone when Prepare returns,
// predictions for the anchor come back, and [Learn] trains a model of the party's own.
// The package does no I/O; carrying bundles is others' work.
//
// # What it protects, against whom
//
// Everybody is taken to follow the protocol and to be curious. The analyst alone holds
// neither A nor F: it sees the shape of the rows within the span of F, labels, and
// nothing that names a feature or a person, unless it knows rows or a like sample from
// elsewhere. The analyst together with one party learns A, hence every F = A⁺Ã, and every
// row up to what F leaves out; no choice of anchor or basis changes that
// (docs/methods.md sections 7.1 and 7.2). Under dc the site keeps F, so that rows that left
// remain readily identifiable to whoever has its folder; under nri not (section 7.7).
//
// [Prepare] runs these attacks on the party's own rows and reports what they find
// ([Report]); floors stop the plainly thin cases. Figures of attacks are no bounds, and
// floors no proof. Memory, swap and core dumps are not covered. docs/threat-model.md has
// the whole.
package party
