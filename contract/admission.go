package contract

import (
	"fmt"
	"slices"
	"strings"
)

// Admission says who lets in a party that comes after setup. A contract without it
// means all members, and no retraining.
type Admission struct {
	// Members are the names of those who must confirm the newcomer, all of them;
	// none for every member, or for Count of them.
	Members []string `json:"members,omitempty"`
	// Count is how many members must confirm, whoever they are; 0 for all.
	Count int `json:"count,omitempty"`
	// Retrain says that the model is trained again with the newcomer's rows, and given to
	// everybody; without it the newcomer gets the model that the others have.
	Retrain bool `json:"retrain,omitempty"`
}

func (c *Contract) validateAdmission() error {
	a := c.Admission
	if a == nil {
		return nil
	}
	if len(a.Members) == 0 && a.Count == 0 && !a.Retrain {
		return refuse("admission", "admission says nothing but the default; leave it out")
	}
	if len(a.Members) > 0 && a.Count != 0 {
		return refuse("admission.members", "admission.members is a list of names or a number, not both")
	}
	if err := between("admission.members", a.Count, 0, c.Parties); err != nil {
		return err
	}
	if len(a.Members) > c.Parties {
		return refuse("admission.members", "admission.members names %d members of %d parties", len(a.Members), c.Parties)
	}
	for i, name := range a.Members {
		if err := checkText(fmt.Sprintf("admission.members[%d]", i+1), name); err != nil {
			return err
		}
		if slices.ContainsFunc(a.Members[:i], func(o string) bool { return strings.EqualFold(o, name) }) {
			return refuse("admission.members", "admission.members names %q twice", name)
		}
	}
	return nil
}

// Retrain says whether the model is trained again when a party comes late.
func (c *Contract) Retrain() bool { return c.Admission != nil && c.Admission.Retrain }

// Describe says it in words.
func (a *Admission) Describe() string {
	who := "all members confirm"
	switch {
	case a == nil:
	case len(a.Members) > 0:
		who = strings.Join(a.Members, ", ") + " confirm"
	case a.Count > 0:
		who = fmt.Sprintf("%d of the members confirm", a.Count)
	}
	if a != nil && a.Retrain {
		return who + "; the model is trained again, for everybody"
	}
	return who + "; the model stays as it is"
}
