// Package party holds the local steps of a data holder, as synchronous pure
// functions: [Check] its table against the contract's floors, [Prepare] what
// would leave, [Accept] what comes back.
//
//	X (n × m) ── Prepare ──► X̃ = P X F, Ã = A F, P Y   leave, P a row permutation
//	                         F                          stays
//	G, h      ── Accept ───► x ↦ h(((x − c)/s) F G)     one ONNX graph
//
// This is plain DC (NRI Algorithm 1; ODC2 §II-A): F stays for scoring, so the
// rows that left remain readily identifiable to whoever holds F. The analyst
// alone holds neither A nor F. An analyst who colludes with one party learns A,
// hence every F = A⁺Ã, and every row up to what F leaves out (METHODS.md
// section 7). The package does no I/O; carrying bundles is others' work.
package party
