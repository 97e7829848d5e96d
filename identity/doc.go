// Package identity is who takes part: the keys of a participant, and the signed
// statement that names them.
//
// Start with [New] and [Statement.Fingerprint]. Private keys print nothing and leave the
// process only through [Identity.EncodeSecret].
package identity
