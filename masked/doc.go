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
// can open it (Shamir 1979). There are two phases:
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
// The own keys and the two phases are those of Bonawitz et al. (2017), Practical Secure
// Aggregation for Privacy-Preserving Machine Learning, CCS '17,
// doi:10.1145/3133956.3133982, §4 and §6. Other than there nobody reconstructs a pair key: a
// set that lacks a message is left for a smaller one.
//
// The package does not see whether a party's figures are true: a party can spoil the sums.
// All parties of a set but one know that one's figures: its vector is the sums minus
// theirs. docs/pooling.md says what follows. It is on the party's side: the analyst's
// programs do not link it.
package masked
