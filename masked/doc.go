// Package masked sums the parties' secret vectors so that each of them learns the sums
// and nothing else of any other.
//
// Start with [Encode], which turns a party's figures into a [Vector], and [New], which
// makes the [Round] in which they are summed: a state machine without network, files or
// clock. The caller carries its messages ([Round.Outbox], [Round.Take]), keeps its
// [Round.State] durable before anything is sent, and does what [Round.Next] says is due.
// [Round.Sums] gives the result. [Ledger] says before a round whether its sums and those
// that were answered before would show one party's figures by subtraction.
//
// Each entry is a fixed point number modulo 2¹²⁸ with 64 fraction bits, so that sums are
// exact and the same at every party to the last bit:
//
//	yᵢ = xᵢ + Σ_{j>i} stream(pair key ij) − Σ_{j<i} stream(pair key ij) + stream(key of i)   mod 2¹²⁸
//
// The pair keys come from the X25519 mask keys of the roster and cancel in the sum over
// the set. Party i draws its own key, and shares it among the set so that any t members
// can open it [shamir1979]. There are two phases:
//
//	ready    i sends yᵢ for a set S and the shares of its key, each for one member alone
//	reveal   who holds all of S's ready messages sends its shares of all keys
//
// With t members' shares the own keys open and the sum over S follows. Whoever has
// signed absent (to go on with a smaller set T) never reveals for S afterwards, whoever
// has revealed never signs absent, and T begins when all its members have signed. Of the
// sets of a round at most one therefore opens, even if the relay withholds messages and
// as many parties as the round assumes collude with it: two sums would show, by their
// difference, the figures of those that were left out.
//
// The own keys and the two phases are those of [bonawitz2017], sections 4 and 6. Other
// than there nobody reconstructs a pair key: a set that lacks a message is left for a
// smaller one.
//
// # What it protects, against whom
//
// Against the relay, and as many parties as the round assumes to collude with it, a
// party's vector is hidden but for the sums over a set in which at least three parties
// stand beyond the colluders ([CheckSet]), and at most one set of a round opens whatever is
// withheld, delayed or forged. This rests on X25519 and HKDF with SHA-256, on own keys
// from the operating system's entropy, and on a [Round.State] that is durable before a
// message leaves. Several rounds are compared by the [Ledger], which counts what
// follows from them by adding and subtracting.
//
// Not covered: all parties of a set but one know that one's figures, since its vector is
// the sums minus theirs; a party can spoil the sums, as nobody sees whether figures are
// true; a quantum computer at a *party* opens the pair keys (for others the messages are
// sealed to post-quantum keys); the ledger of one site does not know that another
// site's rows changed. docs/pooling.md argues all of this, docs/threat-model.md says
// who is who. The package is on the party's side: the analyst's programs do not link it.
package masked
