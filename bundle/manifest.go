package bundle

import (
	"slices"
	"strings"

	"concord/wire"
)

const (
	// MaxMembers bounds the members of a bundle.
	MaxMembers = 4096
	// MaxMemberBytes bounds one member: 2 GiB, which every zip program reads.
	// Larger matrices go in row blocks ([FromMatrix]).
	MaxMemberBytes = 2 << 30
	// maxManifestBytes admits MaxMembers with the longest of everything.
	maxManifestBytes = 2 << 20
	maxNameBytes     = 64
	maxViewBytes     = 800 // of 200 characters
)

// Names of the members that every bundle has.
const (
	manifestName  = "manifest.json"
	signatureName = "manifest.sig"
	approvalName  = "approval.json"
)

// Member describes one file in the bundle. Dtype and Shape are set for .npy
// members and only for those, as their NumPy header says.
type Member struct {
	Name   string    `json:"name"`
	Bytes  int64     `json:"bytes"`
	SHA256 wire.Hash `json:"sha256"`
	Dtype  string    `json:"dtype,omitempty"`
	Shape  []int     `json:"shape,omitempty"`
	// Sealed is set for members that are age files by themselves, .age ones.
	Sealed *Inside `json:"sealed,omitempty"`
}

// equal compares what a gauge measures.
func (m Member) equal(o Member) bool {
	return m.Name == o.Name && m.Bytes == o.Bytes && m.SHA256 == o.SHA256 && m.Dtype == o.Dtype && slices.Equal(m.Shape, o.Shape)
}

// Manifest says everything about what a bundle holds. It is what a person
// approves and what the sender signs.
type Manifest struct {
	Header
	// Anchor is the id of the anchor in use; a contribution must have it.
	Anchor *wire.Hash `json:"anchor,omitempty"`
	// View names the features that the sender has, where the contract has views.
	View    string   `json:"view,omitempty"`
	Members []Member `json:"members"`
}

// Encode returns the manifest's one encoding, the bytes of manifest.json.
func (m *Manifest) Encode() []byte { return encode(m) }

// Hash is the SHA-256 of the encoding. It names the bundle.
func (m *Manifest) Hash() wire.Hash { return wire.HashOf(m.Encode()) }

// Member returns the description of a member, and whether there is one.
func (m *Manifest) Member(name string) (Member, bool) {
	for _, member := range m.Members {
		if member.Name == name {
			return member, true
		}
	}
	return Member{}, false
}

// Bytes is the size of all members together.
func (m *Manifest) Bytes() int64 {
	var n int64
	for _, member := range m.Members {
		n += member.Bytes // at most 4096 × 2 GiB
	}
	return n
}

// DecodeManifest reads what Encode wrote and checks it by itself.
func DecodeManifest(b []byte) (*Manifest, error) {
	m := new(Manifest)
	if err := decode(b, "manifest", maxManifestBytes, m); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

func (m *Manifest) check() error {
	if err := m.Header.check("manifest"); err != nil {
		return err
	}
	if m.Kind == KindContribution && m.Anchor == nil {
		return refuse(ErrDamaged, "manifest: a contribution must name its anchor")
	}
	if m.Anchor != nil && m.Anchor.IsZero() {
		return refuse(ErrDamaged, "manifest: anchor is not set")
	}
	if len(m.View) > maxViewBytes {
		return refuse(ErrDamaged, "manifest: the view's name has %d bytes, must have at most %d", len(m.View), maxViewBytes)
	}
	if n := len(m.Members); n == 0 || n > MaxMembers {
		return refuse(ErrDamaged, "manifest: %d members, must be 1 to %d", n, MaxMembers)
	}
	seen := make(map[string]bool, len(m.Members))
	for _, member := range m.Members {
		if err := member.check(); err != nil {
			return err
		}
		// Where a file system ignores case, one would overwrite the other.
		lower := strings.ToLower(member.inside().Name)
		if seen[lower] {
			return refuse(ErrDamaged, "manifest: member %q is repeated", member.Name)
		}
		seen[lower] = true
	}
	return nil
}

func (m Member) check() error {
	if err := checkName(m.Name); err != nil {
		return err
	}
	if m.Bytes < 0 || m.Bytes > MaxMemberBytes {
		return refuse(ErrDamaged, "manifest: member %q has %d bytes, must be 0 to %d", m.Name, m.Bytes, int64(MaxMemberBytes))
	}
	if isArray := strings.HasSuffix(m.Name, ".npy"); isArray != (m.Dtype != "") || isArray != (len(m.Shape) > 0) {
		return refuse(ErrDamaged, "manifest: member %q: .npy members have dtype and shape, others have none", m.Name)
	}
	for _, n := range m.Shape {
		if n < 0 {
			return refuse(ErrDamaged, "manifest: member %q has a negative dimension", m.Name)
		}
	}
	return m.checkSealed()
}

// checkName admits names that are the same file name everywhere.
func checkName(name string) error {
	if name == "" || len(name) > maxNameBytes {
		return refuse(ErrDamaged, "a member's name has %d characters, must have 1 to %d", len(name), maxNameBytes)
	}
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
		default:
			return refuse(ErrDamaged, "member %q: names are made of letters A-Z and a-z, digits, _ . and -", name)
		}
	}
	if name[0] == '.' || name[0] == '-' || name[len(name)-1] == '.' {
		return refuse(ErrDamaged, "member %q: a name must not begin with . or - nor end with a point", name)
	}
	switch strings.ToLower(name) {
	case manifestName, signatureName, approvalName:
		return refuse(ErrDamaged, "member %q: the name is reserved", name)
	}
	return nil
}
