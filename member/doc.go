// Package member is who belongs to a study and what they signed: invites, the roster and
// its phrase, confirmations, the chain of amendments, receipts, withdrawals and the heads
// of audit logs that participants hold of each other.
//
// Start with [NewRoster], [Roster.Epoch] and [NewChain]. Every record has one encoding;
// its decoder accepts no other.
package member
