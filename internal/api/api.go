// Package api is what a party's program and the analyst's server say to each
// other: paths, messages, limits. It holds no logic, so that neither side can
// reach the other through it.
//
// Statements, contracts and confirmations travel as the exact bytes that were
// signed or hashed, in base64. Bundles travel as they lie on the disk.
package api

import (
	"strings"

	"concord/contract"
	"concord/identity"
	"concord/member"
	"concord/wire"
)

// MaxMessageBytes bounds every JSON message but the roster; a list of bundles for
// contract.MaxParties parties stays below it, without messages of masked sums: see MaxListBytes. MaxRosterBytes holds as many statements
// and confirmations in base64, MaxSetupBytes a setup bundle for as many.
const (
	MaxMessageBytes = 1 << 20
	MaxRosterBytes  = 4 * (contract.MaxParties + 1) * (identity.MaxStatementBytes + member.MaxConfirmationBytes) * 4 / 3
	MaxSetupBytes   = 2 << 20 // without a piece of the anchor: see SetupBytes
)

// BundleMediaType is the content type of a bundle.
const BundleMediaType = "application/vnd.concord.bundle"

// Paths of the API, version 1. {study} is a contract hash and {bundle} a
// manifest hash, both in lower-case hexadecimal.
const (
	PathHealth        = "/healthz"
	PathDescription   = "/v1/openapi.json"
	PathIdentity      = "/v1/identity"
	PathJoin          = "/v1/studies/{study}/join"
	PathRoster        = "/v1/studies/{study}/roster"
	PathConfirmations = "/v1/studies/{study}/confirmations"
	PathAudit         = "/v1/studies/{study}/audit"
	PathAmendments    = "/v1/studies/{study}/amendments"
	PathStatus        = "/v1/studies/{study}/status"
	PathBundles       = "/v1/studies/{study}/bundles"
	PathBundle        = "/v1/studies/{study}/bundles/{bundle}"
	PathUploads       = "/v1/studies/{study}/uploads"
	PathUpload        = "/v1/studies/{study}/uploads/{upload}"
)

// Path fills in a path's study and bundle.
func Path(pattern string, study wire.Hash, bundle ...wire.Hash) string {
	s := strings.Replace(pattern, "{study}", study.String(), 1)
	if len(bundle) > 0 {
		s = strings.Replace(s, "{bundle}", bundle[0].String(), 1)
	}
	return s
}

// Identity answers GET PathIdentity: the analyst's statement. The party
// compares its SHA-256 with the fingerprint in the invite.
type Identity struct {
	Statement []byte `json:"statement"`
}

// JoinRequest is posted to PathJoin.
type JoinRequest struct {
	// Secret is the invite's, on a pinned connection only.
	Secret []byte `json:"secret,omitempty"`
	// Proof is member.JoinProof of the statement, where a proxy may read the request.
	Proof []byte `json:"proof,omitempty"`
	// Statement is the party's.
	Statement []byte `json:"statement"`
}

// JoinResponse gives the contract, whose SHA-256 the invite names.
type JoinResponse struct {
	Contract []byte `json:"contract"`
	// Asks is true while the party awaits the analyst's word.
	Asks bool `json:"asks,omitempty"`
}

// Roster answers GET PathRoster.
type Roster struct {
	Number int `json:"number"`
	// Closed is true when as many parties have joined as the contract says.
	Closed bool `json:"closed"`
	// Statements are the analyst's and the parties'.
	Statements [][]byte `json:"statements"`
	// Confirmations are those received so far for this roster's epoch.
	Confirmations [][]byte `json:"confirmations"`
	// Witness is the analyst's signed word on both audit logs (member.Witness).
	Witness []byte `json:"witness,omitempty"`
	// Analyst is the analyst's confirmation of this roster's epoch, once it is closed.
	Analyst []byte `json:"analyst,omitempty"`
	// Asking are those who have joined and await the analyst's word.
	Asking []Asking `json:"asking,omitempty"`
	// Amendments lead from the roster of that number to the present one, in order;
	// Pending is one after them that members have still to confirm.
	Amendments []Amended `json:"amendments,omitempty"`
	Pending    *Amended  `json:"pending,omitempty"`
}

// Amended is an amendment with the confirmations that it needs.
type Amended struct {
	Amendment     []byte   `json:"amendment"`
	Confirmations [][]byte `json:"confirmations,omitempty"`
}

// AmendResponse answers POST PathAmendments, whose body is an amendment in base64 that
// the party has signed.
type AmendResponse struct {
	// Amendment is the same, with the analyst's signature.
	Amendment []byte `json:"amendment"`
	// Withdrawal is the analyst's receipt for a party that has left.
	Withdrawal []byte `json:"withdrawal,omitempty"`
}

// Asking is a party that awaits the analyst's word.
type Asking struct {
	Name        string    `json:"name"`
	Fingerprint wire.Hash `json:"fingerprint"`
}

// Audit is posted to PathAudit, and answers it: the sender's signed word on both
// audit logs, the other's back.
type Audit struct {
	Witness []byte `json:"witness"`
}

// State is how far a study is.
type State string

// The states of a study, in their order.
const (
	StateJoining      State = "joining"      // parties are awaited
	StateConfirming   State = "confirming"   // the roster is closed, confirmations are awaited
	StateSetup        State = "setup"        // the parties agree the anchor among themselves
	StatePooling      State = "pooling"      // the parties add up masked sums among themselves
	StateContributing State = "contributing" // contributions are awaited
	StateTraining     State = "training"     // the analyst aligns and trains
	StateReleased     State = "released"     // results can be fetched
	StateFailed       State = "failed"       // the analyst could not train; Problem says why
	StateEnded        State = "ended"        // too few parties are left; Problem says why
)

// Status answers GET PathStatus.
type Status struct {
	State State `json:"state"`
	// Expected and Present count the parties.
	Expected int `json:"expected"`
	Present  int `json:"present"`
	// WaitingFor names the parties whose turn it is.
	WaitingFor []string `json:"waiting_for"`
	Problem    string   `json:"problem,omitempty"`
	// Round is that of the newest model: 1 and more after a party has left, or come.
	Round int `json:"round,omitempty"`
	// Roster is the number of the present roster, 0 while it is open.
	Roster int `json:"roster,omitempty"`
	// Asking names who has joined and awaits the analyst's word, Pending who has still
	// to confirm a party that comes after setup.
	Asking  []string `json:"asking,omitempty"`
	Pending []string `json:"pending,omitempty"`
}

// BundleInfo is one bundle that waits for the asking party.
type BundleInfo struct {
	Manifest wire.Hash `json:"manifest"`
	Sender   wire.Hash `json:"sender"`
	Kind     string    `json:"kind"`
	Size     int64     `json:"size"`
	// Epoch is the one that it was sealed in, Round its round. An older server leaves
	// both out. Number is that of a message of masked sums, of which Round is the stage.
	Epoch  wire.Hash `json:"epoch,omitzero"`
	Round  int       `json:"round,omitempty"`
	Number int       `json:"number,omitempty"`
}

// Bundles answers GET PathBundles.
type Bundles struct {
	Bundles []BundleInfo `json:"bundles"`
}

// Error is the body of every answer that is not a success.
type Error struct {
	// Code is stable, for programs.
	Code string `json:"code"`
	// Message is for people. It never carries data.
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Codes of Error.
const (
	CodeBadRequest = "bad_request" // the message is not one the server reads
	CodeForbidden  = "forbidden"   // the connection's key is not a member's, or the invite is not good
	CodeAsks       = "asks"        // the party has joined and awaits the analyst's word
	CodeLeft       = "left"        // the party took part and has left
	CodeNotFound   = "not_found"   // no such study or bundle
	CodeConflict   = "conflict"    // something else is already stored in its place
	CodeNotYet     = "not_yet"     // the study is not that far
	CodeRefused    = "refused"     // a bundle or a confirmation does not verify
	CodeTooLarge   = "too_large"   // more bytes than the contract allows
	CodeTooMany    = "too_many"    // too many requests: see HeaderRetryAfter
	CodeQuota      = "quota"       // the party has sent as much as it may in this study
	CodeFull       = "full"        // the server's disk is nearly full
	CodeBusy       = "busy"        // the server is stopping or has too much to do: see HeaderRetryAfter
	CodeVersion    = "version"     // the two programs are more than one version apart
	CodeSignature  = "signature"   // a signed request is not what its party signed
	CodeStale      = "stale"       // a signed request is one from before: sign it anew
	CodeClock      = "clock"       // a signed request's time is too far from the server's
	CodeOffset     = "offset"      // a part does not begin where the last one ended
	CodeLocked     = "locked"      // another part of this upload is coming in
	CodeInternal   = "internal"    // the server's own trouble; its log knows more
)

// AdmissionBytes bounds what a member seals to a party that comes after setup: the
// anchor's seed, where the anchor is made of pieces those of so many parties, and where
// figures are pooled the sums of every stage and the common directions.
func AdmissionBytes(c *contract.Contract, parties int) int64 {
	return MaxSetupBytes + int64(parties)*(SetupBytes(c)-MaxSetupBytes) + int64(PoolStages(c))*PoolBytes(c)
}

// SetupBytes bounds a setup bundle under a contract: MaxSetupBytes, and where the anchor
// is made of pieces one of as many rows as the anchor has.
func SetupBytes(c *contract.Contract) int64 {
	if !c.Anchor.Pieces() {
		return MaxSetupBytes
	}
	piece := 8 * int64(c.Anchor.Rows) * int64(c.M()) // within contract.MaxAnchorElements
	return MaxSetupBytes + piece + piece/64
}
