// Package bundle writes and reads signed and sealed files, the only thing that
// crosses the border between participants.
//
// Whoever sends calls [Describe] (what would leave), shows it to people
// ([WriteUnsealed] for numpy.load), records their yes with [Approve] and seals
// once with [Seal]. Whoever relays calls [ReadEnvelope], [Envelope.Verify] and
// [Envelope.CheckCiphertext]. Whoever receives calls [Open], which checks
// everything before it returns, and then [Reader.Matrix] or [Reader.Ints].
//
// A bundle of format 1 is
//
//	envelope line, "\n", age payload
//
// The line is JSON: the [Header], the SHA-256 of the manifest, the SHA-256 and
// size of the payload, and the sender's signature. The payload is an age file
// to the recipients' hybrid (post-quantum) keys; age does not authenticate who
// sealed it, the signatures do. In it lies a zip with stored members in fixed
// order:
//
//	manifest.json   the Header again; name, size, SHA-256, dtype and shape of every member
//	manifest.sig    the sender's signature over manifest.json, base64
//	approval.json   a person's (or policy's) signed yes to the manifest
//	X.npy, ...      the members, in the order of the manifest
//
// Every byte of the zip follows from the members, so there is exactly one zip
// for a manifest: a reader compares the whole file with it. JSON has one
// spelling as well ([wire.Canonical]).
//
// # What it protects, against whom
//
// Against whoever relays or finds a bundle: contents are hidden, to a quantum computer
// too (age's hybrid keys), and every byte of the line and of the zip is bound to the sender's
// signature, the study and the epoch, so nothing can be altered, exchanged, or
// replayed in another study. This rests on Ed25519, age and SHA-256, and on the caller:
// the package does not know who is in a study, so the caller says which sender, study
// and epoch it expects, and compares anchor ids. Recipients can pass on what they opened.
// Sizes, times and who sends to whom are not hidden, and a person's approval says which
// files leave, not that their content is what a report says. docs/threat-model.md and
// docs/formats.md have the whole.
//
// Formats: https://age-encryption.org/v1; PKWARE APPNOTE.TXT 6.3.10 (zip).
package bundle
