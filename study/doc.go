// Package study holds what everybody in a study signs and compares: the
// contract, identity statements, the roster and its phrase, confirmations,
// invites.
//
// Start with [ParseYAML] (study.yaml to [Contract]), [NewIdentity], [NewRoster]
// and [Roster.Epoch]. Everything that is hashed or signed has one encoding
// ([Canonical]); its decoders accept no other. The package does no I/O and
// knows nothing of anchors, bases or rows: the analyst's server links it.
package study
