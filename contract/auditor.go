package contract

import (
	"concord/identity"
	"concord/wire"
	"errors"
	"fmt"

	"filippo.io/age"
)

// MaxAuditors bounds the auditors of a contract.
const MaxAuditors = 16

// Auditor is somebody to whom the analyst may seal everything that it has of a study,
// the contributions opened included: who agrees to the contract agrees to that.
type Auditor struct {
	Name string `json:"name"`
	// Fingerprint is that of the auditor's identity statement, for people to compare.
	Fingerprint wire.Hash `json:"fingerprint"`
	// Recipient is the hybrid age recipient in it.
	Recipient string `json:"recipient"`
}

// AgeRecipient is the key to which exports for this auditor are sealed.
func (a *Auditor) AgeRecipient() (*age.HybridRecipient, error) {
	r, err := age.ParseHybridRecipient(a.Recipient)
	if err != nil {
		return nil, fmt.Errorf("contract: the recipient of auditor %q: %w", a.Name, err)
	}
	return r, nil
}

// auditorFromYAML reads either statement, a file that read gives, or name,
// fingerprint and recipient.
func (c *Contract) auditorFromYAML(read func(name string) ([]byte, error)) func(*yamlNode) error {
	return func(n *yamlNode) error {
		var a Auditor
		var file, fingerprint string
		err := section(n, func(s *fields) error {
			return errors.Join(s.get("statement").str(&file), s.get("name").str(&a.Name), s.get("fingerprint").str(&fingerprint), s.get("recipient").str(&a.Recipient))
		})
		if err != nil {
			return err
		}
		switch {
		case file == "":
			if a.Fingerprint, err = wire.ParseHash(fingerprint); err != nil {
				return n.errAt("an auditor needs statement, the file that concordd auditor new wrote, or name, fingerprint and recipient")
			}
		case fingerprint != "" || a.Name != "" || a.Recipient != "":
			return n.errAt("an auditor has either statement or name, fingerprint and recipient")
		case read == nil:
			return n.errAt("files are not read here: give name, fingerprint and recipient of the auditor")
		default:
			b, err := read(file)
			if err != nil {
				return n.errAt("the auditor's statement: %v", err)
			}
			s, err := identity.DecodeStatement(b)
			if err != nil {
				return n.errAt("%s: %v", file, err)
			}
			if s.Role != identity.RoleAuditor {
				return n.errAt("%s is the statement of a %s, must be an auditor's", file, s.Role)
			}
			a = Auditor{Name: s.Name, Fingerprint: s.Fingerprint(), Recipient: s.Recipient}
		}
		c.Auditors = append(c.Auditors, a)
		return nil
	}
}

func (c *Contract) validateAuditors() error {
	if len(c.Auditors) > MaxAuditors {
		return refuse("auditors", "there are %d auditors, must be at most %d", len(c.Auditors), MaxAuditors)
	}
	for i, a := range c.Auditors {
		at := fmt.Sprintf("auditors[%d]", i+1)
		if err := checkText(at+".name", a.Name); err != nil {
			return err
		}
		if a.Fingerprint.IsZero() {
			return refuse(at+".fingerprint", "%s.fingerprint is not set", at)
		}
		if _, err := a.AgeRecipient(); err != nil {
			return refuse(at+".recipient", "%s.recipient: it must be a post-quantum age recipient (age1pq…)", at)
		}
		for _, b := range c.Auditors[:i] {
			if a.Name == b.Name || a.Fingerprint == b.Fingerprint || a.Recipient == b.Recipient {
				return refuse(at, "%s is %q again, or has its keys", at, b.Name)
			}
		}
	}
	return nil
}
