// Package site is a party's folder on the disk: what the party knows of a
// study, one file a thing, so that a person can look. What exists says how far
// the study is; there is no other state.
//
//	identity.secret      private keys                              0600
//	statement.json       this site's identity statement            public
//	connection.json      the server's address, how it is known (tls), the study
//	trusted.pem          certificates that this site trusts besides the system's
//	analyst.json         the analyst's statement                   public
//	contract.json        what was agreed; its SHA-256 is the study
//	roster/              statements of all members, once confirmed; number, unless it is 1
//	confirmation.json    this site's signed yes
//	amendments/          signed changes of the roster since, 0002.json and so on
//	identities/          keys that this site had before               0600
//	identity-next.secret keys that it is about to take                0600
//	candidate.json       this site has confirmed its coming after setup; members have yet to
//	pending.json         this site's yes to another party that comes after setup
//	withdraw.json        this site's signed withdrawal; withdrawn.json is the analyst's receipt,
//	withdrawn.txt        what remains, in plain words
//	setup/               this site's share of the anchor seed      0600, and its manifest;
//	                     its piece of the anchor, where that is made of pieces
//	anchor.secret        the anchor seed, once all shares are in   0600
//	pool/                masked sums: messages as they leave, the pooled figures  0600
//	contribution/leaves/ manifest.json X.npy A.npy Y.npy exactly as they would leave, approval.json
//	contribution/stays/  basis.secret (0600; none under nri), report.json, source.json, prepared.json
//	policy.yaml          this site's own floors, if people here wrote one
//	ledger.jsonl         what left of which rows, unless policy.yaml names another place
//	public.csv           the public file of an anchor made of one
//	audit.jsonl          what happened here, chained and signed (package audit)
//	approvals.log        every approval given here, by whom or what
//	outbox/              sealed bundles, exactly as sent
//	receipts/            the analyst's signed receipts, and its word on audit logs
//	inbox/               sealed bundles as received
//	joining.json         what this site asked to join, where it asked by a file
//	post/                what the analyst's newest parcel said and brought, by-file
//	lock                 held while a command changes the folder
//	join-tried           this identity may be known to a server
//	model.onnx           the finished model, which holds the basis  0600
//	round                which model it is, unless the first; model-0.onnx is the one before,
//	round-1.json         what the model of round 1 was made of
//	metrics.json         what the analyst measured
//
// Every file takes its place whole and durably (package durable).
package site

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"concord/anchor"
	"concord/basis"
	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/durable"
	"concord/npy"
	"concord/secret"
	"concord/wire"
)

// Names of the files and folders in a site's folder.
const (
	identityFile     = "identity.secret"
	statementFile    = "statement.json"
	connectionFile   = "connection.json"
	trustedFile      = "trusted.pem"
	analystFile      = "analyst.json"
	contractFile     = "contract.json"
	rosterDir        = "roster"
	confirmationFile = "confirmation.json"
	anchorFile       = "anchor.secret"
	basisFile        = "basis.secret"
	leavesDir        = "leaves"
	staysDir         = "stays"
	outboxDir        = "outbox"
	receiptsDir      = "receipts"
	inboxDir         = "inbox"
	lockFile         = "lock"
	triedFile        = "join-tried"
	approvalsFile    = "approvals.log"
	publicFile       = "public.csv"
	PolicyFile       = "policy.yaml"
	ModelFile        = "model.onnx"
	MetricsFile      = "metrics.json"
)

const (
	secretPerm = 0o600
	dirPerm    = 0o700
	filePerm   = 0o644
)

// Site is an open folder.
type Site struct {
	Dir string
}

// Connection says where the server is and which study this site takes part in.
type Connection struct {
	Format  int    `json:"format"`
	Address string `json:"address"`
	// TLS is member.TLSWebPKI, or empty for member.TLSPinned; Prefix is the path under
	// which a reverse proxy has the server.
	TLS    string    `json:"tls,omitempty"`
	Prefix string    `json:"prefix,omitempty"`
	Study  wire.Hash `json:"study"`
}

// ErrNoSite is returned by Open when the folder holds no site.
var ErrNoSite = errors.New("no study here")

// New makes the folder for a site, if it is not there. A folder with other
// things in it is refused: a site's commands remove and replace files.
func New(dir string) (*Site, error) {
	s := &Site{dir}
	if err := durable.MkdirAll(dir, dirPerm); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 && !s.has(lockFile) {
		return nil, fmt.Errorf("the folder %s has other things in it; take an empty one", dir)
	}
	// The lock is what tells a site's folder, so it is there before anything else.
	return s, durable.MakeLock(s.path(lockFile))
}

// Enrol makes the site's identity, or returns the stored one if joining was
// interrupted. approver is the public key of the person who approves there, or nil
// for whoever holds the site's keys. view is what the site has of the features of a contract with
// views, or "" for what was said before; it may change until the site has joined. The site
// must be locked.
func (s *Site) Enrol(name string, approver ed25519.PublicKey, view string) (*identity.Identity, error) {
	id, err := s.Identity()
	same := err == nil && id.Statement.Name == name && bytes.Equal(id.Statement.ApproverKey, approver)
	switch {
	case same && (view == "" || id.Statement.View == view):
		return id, nil
	case same && s.Joined():
		return nil, fmt.Errorf("%q has joined with the view %q; that cannot be changed in this study", name, id.Statement.View)
	case same:
		if id, err = id.WithView(view); err != nil {
			return nil, err
		}
		return id, s.putIdentity(id)
	case err == nil && id.Statement.Name == name && (s.Joined() || s.has(triedFile)):
		return nil, fmt.Errorf("%q has joined, or may have, with another approver; that cannot be changed in this study", name)
	case err == nil && (s.Joined() || s.has(triedFile)):
		return nil, fmt.Errorf("the folder %s belongs to %q, which has joined or may have; repeat that name, or take another folder for %q", s.Dir, id.Statement.Name, name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	// No identity yet, or one under another name that no server has seen.
	if id, err = identity.New(identity.RoleParty, name, approver); err != nil {
		return nil, err
	}
	if view != "" {
		if id, err = id.WithView(view); err != nil {
			return nil, err
		}
	}
	return id, s.putIdentity(id)
}

// putIdentity makes the folder's parts and writes the identity there.
func (s *Site) putIdentity(id *identity.Identity) error {
	keys, err := id.EncodeSecret()
	if err != nil {
		return err
	}
	defer keys.Erase()
	for _, sub := range []string{outboxDir, receiptsDir, inboxDir} {
		if err := durable.MkdirAll(s.path(sub), dirPerm); err != nil {
			return err
		}
	}
	if err := durable.KeepOutOfGit(s.Dir); err != nil {
		return err
	}
	if err := durable.WriteFile(s.path(statementFile), id.Statement.Encode(), filePerm); err != nil {
		return err
	}
	return durable.WriteFile(s.path(identityFile), keys.Reveal(), secretPerm)
}

// PutTried notes that this identity is about to be sent to a server: whatever
// comes back, it may be in a roster from now on.
func (s *Site) PutTried() error { return durable.WriteFile(s.path(triedFile), nil, filePerm) }

// Open opens the folder of a site that has joined.
func Open(dir string) (*Site, error) {
	s := &Site{dir}
	if _, err := os.Stat(s.path(contractFile)); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: the folder %s has no %s", ErrNoSite, dir, contractFile)
		}
		return nil, err
	}
	return s, nil
}

// Lock keeps other commands from changing the folder until unlock is called,
// and sweeps what an interrupted one left there.
func (s *Site) Lock() (unlock func(), err error) {
	unlock, err = durable.Lock(s.path(lockFile))
	if errors.Is(err, durable.ErrLocked) {
		return nil, fmt.Errorf("another concord command is at work in the folder %s", s.Dir)
	}
	if err != nil {
		return nil, err
	}
	sweep := []string{
		".", outboxDir, receiptsDir, inboxDir, postDir, filepath.Join(bundle.KindSetup, leavesDir), filepath.Join(bundle.KindContribution, leavesDir), poolDir,
	}
	drafts, _ := os.ReadDir(s.path(poolDir))
	for _, d := range drafts {
		if d.IsDir() {
			sweep = append(sweep, filepath.Join(poolDir, d.Name(), leavesDir))
		}
	}
	for _, sub := range sweep {
		if err := durable.Sweep(s.path(sub)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			unlock()
			return nil, err
		}
	}
	return unlock, nil
}

// Joined reports whether the site has a contract.
func (s *Site) Joined() bool { return s.has(contractFile) }

// PutJoined stores what joining gave; the contract comes last, and makes the
// site.
func (s *Site) PutJoined(c Connection, analyst *identity.Statement, contract []byte) error {
	if err := s.PutConnection(c); err != nil {
		return err
	}
	if err := durable.WriteFile(s.path(analystFile), analyst.Encode(), filePerm); err != nil {
		return err
	}
	return durable.WriteFile(s.path(contractFile), contract, filePerm)
}

// PutConnection stores where the server is.
func (s *Site) PutConnection(c Connection) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(s.path(connectionFile), append(b, '\n'), filePerm)
}

// PutTrusted stores the certificates, in PEM, that this site trusts besides the
// system's: an inspecting proxy's.
func (s *Site) PutTrusted(pem []byte) error {
	return durable.WriteFile(s.path(trustedFile), pem, filePerm)
}

// Trusted loads those certificates, nil if there are none.
func (s *Site) Trusted() ([]byte, error) {
	b, err := os.ReadFile(s.path(trustedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Identity loads the private keys.
func (s *Site) Identity() (*identity.Identity, error) { return s.identity(identityFile) }

// Connection loads where the server is.
func (s *Site) Connection() (Connection, error) {
	var c Connection
	b, err := os.ReadFile(s.path(connectionFile))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, fmt.Errorf("%s: %w", s.path(connectionFile), err)
	}
	if c.Format != 1 {
		return c, &wire.FormatError{What: s.path(connectionFile), Theirs: c.Format, Newest: 1}
	}
	return c, nil
}

// Analyst loads the analyst's statement.
func (s *Site) Analyst() (*identity.Statement, error) {
	b, err := os.ReadFile(s.path(analystFile))
	if err != nil {
		return nil, err
	}
	return identity.DecodeStatement(b)
}

// Contract loads the contract and its hash, which must be the study's.
func (s *Site) Contract() (*contract.Contract, wire.Hash, error) {
	b, err := os.ReadFile(s.path(contractFile))
	if err != nil {
		return nil, wire.Hash{}, err
	}
	c, err := contract.Decode(b)
	if err != nil {
		return nil, wire.Hash{}, err
	}
	conn, err := s.Connection()
	if err != nil {
		return nil, wire.Hash{}, err
	}
	if hash := wire.HashOf(b); hash != conn.Study {
		return nil, wire.Hash{}, fmt.Errorf("%s was changed: its SHA-256 is %s, the study is %s", s.path(contractFile), hash.Short(), conn.Study.Short())
	}
	return c, conn.Study, nil
}

// PutSeed stores the anchor seed.
func (s *Site) PutSeed(seed anchor.Seed) error {
	return durable.WriteFile(s.path(anchorFile), seed.Bytes().Reveal(), secretPerm)
}

// HasSeed reports whether the anchor seed is agreed.
func (s *Site) HasSeed() bool { return s.has(anchorFile) }

// Seed loads the anchor seed. The second result tells whether there is one.
func (s *Site) Seed() (anchor.Seed, bool, error) {
	b, err := os.ReadFile(s.path(anchorFile))
	if errors.Is(err, fs.ErrNotExist) {
		return anchor.Seed{}, false, nil
	}
	if err != nil {
		return anchor.Seed{}, false, err
	}
	seed, err := anchor.SeedFromBytes(secret.NewBytes(b))
	return seed, true, err
}

// PutDraft stores, in one step, what would leave in a bundle of one kind and
// what of it stays, in place of an earlier draft and its approval. fill gets
// the two folders.
func (s *Site) PutDraft(kind string, fill func(leaves, stays string) error) error {
	return durable.PutDir(s.Draft(kind), dirPerm, func(dir string) error {
		leaves, stays := filepath.Join(dir, leavesDir), filepath.Join(dir, staysDir)
		if err := errors.Join(os.Mkdir(leaves, dirPerm), os.Mkdir(stays, dirPerm)); err != nil {
			return err
		}
		return fill(leaves, stays)
	})
}

// Leaves is the path of a file that would leave in a bundle of one kind.
func (s *Site) Leaves(kind string, name ...string) string {
	return filepath.Join(append([]string{s.Draft(kind), leavesDir}, name...)...)
}

// Stays is the path of a file that belongs to such a bundle and does not leave.
func (s *Site) Stays(kind string, name ...string) string {
	return filepath.Join(append([]string{s.Draft(kind), staysDir}, name...)...)
}

// WriteBasis writes a basis to a folder given by PutDraft.
func WriteBasis(stays string, b *basis.Basis) error {
	return durable.Write(filepath.Join(stays, basisFile), secretPerm, func(f *os.File) error {
		return npy.WriteMatrix(f, b.Matrix().Reveal())
	})
}

// Basis loads the basis of the contribution, which must have m × l elements.
func (s *Site) Basis(m, l int) (*basis.Basis, error) {
	path := s.Stays(bundle.KindContribution, basisFile)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	matrix, err := npy.ReadMatrix(f, npy.Limits{Rows: m, Cols: l})
	if err != nil {
		return nil, fmt.Errorf("the basis file %s is damaged: %w", path, err)
	}
	b, err := basis.FromMatrix(secret.NewMatrix(matrix))
	if err != nil {
		return nil, err
	}
	if gm, gl := b.Dims(); gm != m || gl != l {
		return nil, fmt.Errorf("the basis file %s is %d × %d, the contract says %d × %d", path, gm, gl, m, l)
	}
	return b, nil
}

// PutModel stores what came back in a round. The model comes last. That of an earlier
// round stays under the name that OldModel says, until somebody deletes it.
func (s *Site) PutModel(round int, model, metrics []byte) error {
	had, err := s.Round()
	if err != nil {
		return err
	}
	if old, err := s.Model(); err == nil && had < round && !s.has(OldModel(had)) {
		if err := durable.WriteFile(s.path(OldModel(had)), old, secretPerm); err != nil {
			return err
		}
	}
	if err := durable.WriteFile(s.path(MetricsFile), metrics, filePerm); err != nil {
		return err
	}
	if err := durable.WriteFile(s.path(ModelFile), model, secretPerm); err != nil {
		return err
	}
	if round == 0 {
		return nil
	}
	return durable.WriteFile(s.path(roundFile), fmt.Appendf(nil, "%d\n", round), filePerm)
}

// roundFile says of which round the model is, unless it is the first, 0.
const roundFile = "round"

// OldModel names the model of an earlier round.
func OldModel(round int) string { return fmt.Sprintf("model-%d.onnx", round) }

// Round is that of the model here; 0 before there is one.
func (s *Site) Round() (int, error) {
	b, err := os.ReadFile(s.path(roundFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var round int
	if _, err := fmt.Sscanf(string(b), "%d\n", &round); err != nil || round < 1 {
		return 0, fmt.Errorf("%s is damaged: it holds no round", s.path(roundFile))
	}
	return round, nil
}

// PutRecord stores what the model of a round was made of.
func (s *Site) PutRecord(round int, record []byte) error {
	return durable.WriteFile(s.path(fmt.Sprintf("round-%d.json", round)), record, filePerm)
}

// Model loads the finished model's bytes.
func (s *Site) Model() ([]byte, error) { return os.ReadFile(s.path(ModelFile)) }

// CloseSetup removes the anchor seed and the shares it came from: after the
// model is here nothing needs them any more, and they undo other parties' bases
// for whoever holds their images. It can be repeated.
func (s *Site) CloseSetup() error {
	inbox, err := filepath.Glob(s.path(inboxDir, bundle.KindSetup+"-*.bundle"))
	if err != nil {
		return err
	}
	given, err := filepath.Glob(s.path(inboxDir, bundle.KindAdmission+"-*.bundle"))
	if err != nil {
		return err
	}
	for _, path := range append(append(inbox, given...), s.path(anchorFile), s.path(bundle.KindSetup), s.path(bundle.KindAdmission)) {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	if err := errors.Join(s.forgetPostedShares(), s.forgetPool()); err != nil {
		return err
	}
	return errors.Join(durable.SyncDir(s.path(inboxDir)), durable.SyncDir(s.Dir))
}

// closedFile marks a site at which the study is closed.
const closedFile = "closed"

// Close is CloseSetup for good: the study has ended at this site.
func (s *Site) Close() error {
	if err := durable.WriteFile(s.path(closedFile), nil, filePerm); err != nil {
		return err
	}
	return s.CloseSetup()
}

// Closed reports whether the study has ended at this site.
func (s *Site) Closed() bool { return s.has(closedFile) }

// HasModel reports whether the finished model is here.
func (s *Site) HasModel() bool { return s.has(ModelFile) }

// Outbox is the path of a sealed bundle of one kind.
func (s *Site) Outbox(kind string) string { return s.path(outboxDir, kind+".bundle") }

// Inbox is the path of a received bundle.
func (s *Site) Inbox(kind string, sender wire.Hash) string {
	return s.path(inboxDir, kind+"-"+sender.String()+".bundle")
}

// PublicName is the file that holds the study's public rows.
func (s *Site) PublicName() string { return publicFile }

// PutPublic stores the study's public file.
func (s *Site) PutPublic(b []byte) error {
	return durable.WriteFile(s.path(publicFile), b, filePerm)
}

// Policy loads the site's policy.yaml; nil if there is none. One that cannot be read
// is an error: it may be stricter than anything else. So is a link to what is not there,
// a share that is not mounted for example.
func (s *Site) Policy() (*contract.Policy, error) {
	b, err := os.ReadFile(s.path(PolicyFile))
	if errors.Is(err, fs.ErrNotExist) {
		if _, link := os.Lstat(s.path(PolicyFile)); link == nil {
			return nil, fmt.Errorf("%s is a link to what is not there", s.path(PolicyFile))
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p, err := contract.ParsePolicy(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.path(PolicyFile), err)
	}
	return p, nil
}

// LogApproval adds a line to approvals.log and makes it durable.
func (s *Site) LogApproval(line string) error {
	return appendLine(s.path(approvalsFile), []byte(line), filePerm)
}

// PutReceipt stores the receipt for the bundle of one kind.
func (s *Site) PutReceipt(kind string, receipt []byte) error {
	return durable.WriteFile(s.path(receiptsDir, kind+".json"), receipt, filePerm)
}

// Receipt loads the receipt for the bundle of one kind.
func (s *Site) Receipt(kind string) ([]byte, error) {
	return os.ReadFile(s.path(receiptsDir, kind+".json"))
}

// Sent reports whether the server has acknowledged the bundle of one kind.
func (s *Site) Sent(kind string) bool { return s.has(receiptsDir, kind+".json") }

// Has reports whether the site has a file or folder.
func (s *Site) Has(name ...string) bool { return s.has(name...) }

// Path joins names to the folder.
func (s *Site) Path(name ...string) string { return s.path(name...) }

func (s *Site) has(name ...string) bool {
	_, err := os.Stat(s.path(name...))
	return err == nil
}

func (s *Site) path(name ...string) string {
	return filepath.Join(append([]string{s.Dir}, name...)...)
}
