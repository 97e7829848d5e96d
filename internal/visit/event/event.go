// Package event is what may happen during a visit to a site's folder (package visit): a type
// each, told as it happens. Whoever listens tells people in words of its own.
package event

import (
	"concord/contract"
	"concord/identity"
	"concord/learn"
	"concord/member"
	"concord/party"
	"concord/pooled"
	"concord/release"
	"concord/wire"
)

// Event is one of the types below.
type Event any

// RosterFollowed is an amendment of the roster that this site follows from now on.
type RosterFollowed struct {
	Step member.Step
	// Party is whom it is about, before or after it; nil if neither roster has it.
	Party *identity.Statement
}

// MemberProposed is a party that the analyst wants to come after setup.
type MemberProposed struct {
	Roster  *member.Roster
	Party   *identity.Statement
	Missing []string // who has still to confirm it
	// Asks says that this site's yes is wanted.
	Asks bool
}

// TookPart: this site came after setup and has become a member.
type TookPart struct{ Roster int }

// SetupForgotten: what was agreed under an earlier roster is deleted.
type SetupForgotten struct{ Roster int }

// ShareSent: this site's share of the anchor's seed is at the analyst, or with files waits
// for the next parcel.
type ShareSent struct {
	Bytes  int64
	Later  bool
	Piece  bool // with a piece of the anchor
	Others int
}

// PieceCame is another party's piece of the anchor, with what a look at it says.
type PieceCame struct {
	From *identity.Statement
	Look party.TheirPiece
}

// AnchorAgreed: the seed is derived from the shares of all parties.
type AnchorAgreed struct {
	Parties int
	ID      wire.Hash
}

// AnchorGiven: a member gave this site, which came after setup, the anchor.
type AnchorGiven struct {
	From *identity.Statement
	ID   wire.Hash
}

// ContributionSent: the contribution is at the analyst, or waits for the next parcel.
type ContributionSent struct {
	Bytes    int64
	Later    bool
	Receipts string // the folder of the analyst's receipt
}

// MessageSent is a message of masked sums, or a note, by its name and what it is for.
type MessageSent struct {
	Name, What string
	Bytes      int64
	Later      bool
}

// NoteKept: a note of this site's was refused and stays here.
type NoteKept struct {
	Name string
	Why  error
}

// NoteUseless is another party's note that says nothing.
type NoteUseless struct {
	From *identity.Statement
	Why  error
}

// NoteCame is another party's note.
type NoteCame struct{ From, Sentence string }

// MessageLate is a message of masked sums whose sender the others had left out.
type MessageLate struct {
	Number int
	From   *identity.Statement
}

// MessageUseless is a message of masked sums that cannot be used.
type MessageUseless struct {
	Number, Stage int
	From          *identity.Statement
	Why           error
}

// PoolProblem is what another party did wrong in masked sums.
type PoolProblem struct{ Why error }

// StagePrepared: the site's policy prepared and approved a later stage.
type StagePrepared struct {
	Stage  int
	Name   string
	Policy string
}

// StageSummed: the sums of a stage are known.
type StageSummed struct {
	Stage, Of int
	Name      string
	Set       []wire.Hash
	Names     string // of those in the set
}

// OthersGoOn: others want to go on without parties whose messages are here.
type OthersGoOn struct{ Names string }

// DirectionsFit: the common directions fit the sums.
type DirectionsFit struct{ About pooled.Spectrum }

// ModelReplaced: a model takes the place of an earlier one, which stays in a file.
type ModelReplaced struct {
	Round int
	Old   string
}

// ModelReceived: this site has its model.
type ModelReceived struct {
	Outcome *release.Outcome
	// Parties say of how many parties the rows are that trained it; 0 if this site cannot tell.
	Parties int
	Path    string
	// Fit is that of the site's own model where answers came back (nri), of a kind and for
	// the anchor's rows; nil otherwise.
	Fit        *learn.Report
	Answers    string
	AnchorRows int
}

// ModelHere: there is no newer model than the one here.
type ModelHere struct{ Path string }

// HeadsKept: the work is done, and the heads of the audit logs were not exchanged.
type HeadsKept struct{ Why error }

// ViewChosen is the view of the features that a file is read by.
type ViewChosen struct {
	Contract *contract.Contract
	View     string
	How      string
	Idle     []string // columns of other views in the file
}

// GoesOnWithout: this site has signed that a party's message for a stage did not come.
type GoesOnWithout struct {
	Party *identity.Statement
	Stage int
}

// ContractCame: the analyst's parcel brought the contract.
type ContractCame struct{ Contract *contract.Contract }

// UnknownItem is something in a parcel that this version does not know.
type UnknownItem struct{ Kind string }

// ParcelOlder is a parcel that changes nothing, since a newer one was taken.
type ParcelOlder struct{ Number int64 }

// ParcelTaken is a parcel whose news are kept.
type ParcelTaken struct{ Number int64 }

// ReceiptCame: the analyst has what this site sealed under a name.
type ReceiptCame struct{ Name string }

// KeysTaken: the site has new keys by what the parcel says.
type KeysTaken struct{ Fingerprint wire.Hash }
