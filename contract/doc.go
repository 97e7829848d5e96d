// Package contract is what every party and the analyst of a study agree on before
// anything is computed: features, label, protocol, anchor, basis, alignment, model,
// floors, and how a row is prepared.
//
// Start with [ParseYAML], which reads study.yaml, and [Contract.Encode]: the SHA-256 of
// those bytes names the study. [Decode] accepts no other encoding. The package does no
// I/O and knows nothing of anchors, bases or rows: the analyst's server links it.
package contract
