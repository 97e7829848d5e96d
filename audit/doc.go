// Package audit keeps a log that cannot be changed unseen: each entry is signed,
// and holds the SHA-256 of the one before it.
//
// Start with [Next], which makes the entry that follows another, and [Verify],
// which reads a whole log. An entry is one line of canonical JSON: its number,
// the time, what happened in one word ([Kind]) and in plain words, the hashes that
// it concerns, never data.
//
// Signatures and chain find what somebody without the key does. Whoever has the
// key can write the whole log anew; that is found by the heads that others hold of
// it: every receipt and bundle carries them ([member.Heads]), and [Chain.Check]
// compares. Entries after the newest head that somebody else holds are vouched for
// by nobody: removing them from the end cannot be seen.
//
// The package does no I/O and does not say what must be logged: a party's folder
// (internal/site) and the analyst's store (internal/store) do.
package audit
