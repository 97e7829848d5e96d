package visit

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"concord/bundle"
	"concord/identity"
	"concord/internal/durable"
	"concord/secret"
	"concord/wire"
)

// approverKey is the key that approves at this site: its own, or that of the person
// whom it joined with, from their file.
func (v *Visit) approverKey(path string) (ed25519.PrivateKey, error) {
	other := len(v.ID.Statement.ApproverKey) > 0
	switch {
	case path == "" && other:
		return nil, wire.WithHint(errors.New("another person approves at this site"),
			"they run the command with --key and their private key's file")
	case path == "":
		return v.ID.SigningKey(), nil
	case !other:
		return nil, misusef("this site joined without an approver; --key is for one")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text := secret.NewBytes(b)
	defer text.Erase()
	key, err := identity.DecodeApprover(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if !v.ID.Statement.Approver().Equal(key.Public()) {
		return nil, fmt.Errorf("%s holds another key than the approver's whom this site joined with", path)
	}
	return key, nil
}

// NewApprover writes the private key of a person who approves into a new file, and returns
// the public one.
func NewApprover(path string) (string, error) {
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is there already; it is not overwritten", path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	private, public := identity.NewApprover()
	defer private.Erase()
	return public, durable.WriteFile(path, private.Reveal(), draftPerm)
}

// sayYes approves a draft that holds still, by the approver's key, once a person has said yes
// to it.
func (v *Visit) sayYes(name string, m *bundle.Manifest, keyFile string, yes func() error) error {
	if err := v.stillHolds(name, m); err != nil {
		return err
	}
	key, err := v.approverKey(keyFile)
	if err != nil {
		return err
	}
	if err := yes(); err != nil {
		return err
	}
	return v.approveDraft(name, m, key, bundle.PolicyPerson)
}
