package visit

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"fmt"
	"os"

	"concord/contract"
	"concord/internal/client"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// connection is what a site keeps of an invite.
func connection(v member.Invite) site.Connection {
	c := site.Connection{Format: 1, Address: v.Address, Prefix: v.Prefix, Study: v.Contract}
	if v.TLS != member.TLSPinned {
		c.TLS = v.TLS
	}
	return c
}

// maxTrustedBytes bounds a file of certificates.
const maxTrustedBytes = 1 << 20

// ReadRoots reads a file of certificates to trust.
func ReadRoots(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxTrustedBytes {
		return nil, fmt.Errorf("%s has %d bytes, a file of certificates has at most %d", path, info.Size(), maxTrustedBytes)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(b) {
		return nil, wire.WithHint(fmt.Errorf("%s holds no certificate in PEM", path),
			"it begins with -----BEGIN CERTIFICATE-----; convert another form with openssl x509 -inform der")
	}
	return b, nil
}

// Joining is what a site joins with.
type Joining struct {
	Invite member.Invite
	Name   string
	// Approver is the key of another person who approves here, nil if nobody does.
	Approver ed25519.PublicKey
	View     string
	Roots    []byte // certificates to trust besides the system's, nil for none
}

// Joined is what came of it.
type Joined struct {
	Name        string
	Fingerprint wire.Hash
	// Contract is what came back; nil where nothing was asked of the server.
	Contract *contract.Contract
	// Asks says that the request goes by a file, already that this site has joined before.
	Asks, Already bool
	// Moved is the server's address from now on, for a site that had joined.
	Moved string
}

// Join makes this site's keys and joins a study: it meets the server that the invite names
// and sends it this site's statement, or notes what a parcel is to ask.
func Join(ctx context.Context, dir string, opt Options, with Joining) (Joined, error) {
	var none Joined
	s, err := site.New(dir)
	if err != nil {
		return none, err
	}
	unlock, err := s.Lock()
	if err != nil {
		return none, err
	}
	defer unlock()
	id, err := s.Enrol(with.Name, with.Approver, with.View)
	if err != nil {
		return none, err
	}
	if with.Roots != nil {
		if err := s.PutTrusted(with.Roots); err != nil {
			return none, err
		}
	}
	there := connection(with.Invite)
	target, err := opt.target(s, there)
	if err != nil {
		return none, err
	}
	moved := false
	if s.Joined() {
		conn, err := s.Connection()
		if err != nil {
			return none, err
		}
		moved = conn != there
		if conn.Study != with.Invite.Contract {
			return none, wire.WithHint(misusef("the folder %s already takes part in study %s", dir, conn.Study.Short()),
				"take another folder for another study, with --dir")
		}
	}
	v := &Visit{site: s, ID: id, Study: with.Invite.Contract}
	if opt.Files {
		return v.joinByFile(with.Invite)
	}
	c, analyst, err := client.Meet(ctx, target, with.Invite.Contract, id, with.Invite.Analyst)
	if err != nil {
		return none, err
	}
	defer c.Close()
	v.analyst = analyst
	if moved {
		return Joined{Moved: target.URL()}, v.move(there)
	}
	return v.enter(ctx, c, with.Invite, there)
}

// joinByFile notes what this site asks; the parcel that give writes carries it.
func (v *Visit) joinByFile(invite member.Invite) (Joined, error) {
	done := Joined{Name: v.ID.Statement.Name, Fingerprint: v.Own(), Asks: true}
	if v.site.Joined() {
		done.Already = true
		return done, nil
	}
	if err := v.site.PutTried(); err != nil {
		return done, err
	}
	if err := v.noteJoining(invite, "the analyst, by file"); err != nil {
		return done, err
	}
	key := wire.HashOf(invite.Secret.Reveal())
	return done, v.site.PutJoining(site.Joining{
		Connection: connection(invite),
		Analyst:    invite.Analyst,
		Proof:      member.JoinProof(key, invite.Contract, invite.Analyst, v.ID.Statement.Encode()),
	})
}

// enter asks the server to take this site in, and keeps the contract that comes back.
func (v *Visit) enter(ctx context.Context, c *client.Client, invite member.Invite,
	there site.Connection) (Joined, error) {
	var none Joined
	if err := v.site.PutTried(); err != nil {
		return none, err
	}
	if err := v.noteJoining(invite, invite.Address); err != nil {
		return none, err
	}
	raw, asks, err := c.Join(ctx, invite.Secret.Reveal(), v.ID.Statement.Encode())
	if err != nil {
		return none, err
	}
	agreed, err := contract.Decode(raw)
	if err != nil {
		return none, err
	}
	if err := agreed.CheckView(v.ID.Statement); err != nil {
		return none, err
	}
	if err := v.noteJoined(invite.Analyst); err != nil {
		return none, err
	}
	if err := v.site.PutJoined(there, v.analyst, raw); err != nil {
		return none, err
	}
	done := Joined{Name: v.ID.Statement.Name, Fingerprint: v.Own(), Contract: agreed, Asks: asks}
	if asks {
		return done, &wire.Waiting{For: "the analyst to admit this site"}
	}
	return done, nil
}

// move lets a site that has joined reach the same analyst's server at another
// address, or in another way.
func (v *Visit) move(there site.Connection) error {
	known, err := v.site.Analyst()
	if err != nil {
		return err
	}
	if known.Fingerprint() != v.analyst.Fingerprint() {
		return wire.WithHint(fmt.Errorf("the invite is another analyst's, %s; this site joined that of %s",
			v.analyst.Fingerprint().Short(), known.Fingerprint().Short()), "do not go on: ask the analyst whom you know")
	}
	return v.site.PutConnection(there)
}
