// Package wire is what both ends of an exchange agree on before anything else: hashes, the
// one encoding of what is hashed or signed, signatures and what each is for, the errors
// that say who has the next turn and what helps, and text that is safe to show.
package wire
