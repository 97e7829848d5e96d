package visit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"concord/contract"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/parcel"
	"concord/internal/site"
	"concord/wire"
)

// openParcel opens a parcel that is the analyst's, for this site and study. Everything
// in it is the analyst's word when it returns.
func openParcel(f *os.File, size int64, s *site.Site, joining *site.Joining,
	id *identity.Identity) (*parcel.Parcel, error) {
	hash, analyst := wire.Hash{}, wire.Hash{}
	if s.Joined() {
		conn, err := s.Connection()
		if err != nil {
			return nil, err
		}
		statement, err := s.Analyst()
		if err != nil {
			return nil, err
		}
		hash, analyst = conn.Study, statement.Fingerprint()
	} else {
		hash, analyst = joining.Study, joining.Analyst
	}
	c, err := parcel.Open(f, size)
	if err != nil {
		return nil, err
	}
	next, err := s.Next()
	if err != nil {
		return nil, err
	}
	if next != nil && next.Statement.Fingerprint() == c.To {
		id = next // the answer to a re-key
	}
	own := id.Statement.Fingerprint()
	switch {
	case c.Head.Parcel != parcel.Analyst:
		return nil, wire.WithHint(errors.New("the parcel is from a site to the analyst"),
			"the analyst takes it with concordd take")
	case c.Study != hash:
		return nil, wire.WithHint(fmt.Errorf("the parcel is of study %s, this folder takes part in %s", c.Study.Short(),
			hash.Short()), "name the other study's folder with --dir")
	case c.From != analyst:
		return nil, wire.WithHint(fmt.Errorf("the parcel is from %s, the analyst of this study is %s", c.From.Short(),
			analyst.Short()), "do not use it; ask the analyst")
	case c.To != own:
		return nil, wire.WithHint(fmt.Errorf("the parcel is for the site %s, this one is %s", c.To.Short(), own.Short()),
			"take the file that the analyst gave for this site")
	}
	if err := c.Unseal(id.AgeIdentity()); err != nil {
		return nil, err
	}
	sender, err := c.Statement()
	if err != nil {
		return nil, err
	}
	if sender.Role != identity.RoleAnalyst {
		return nil, errors.New("the parcel's sender is no analyst")
	}
	return c, c.Verify(sender.SigningKey)
}

// takeContract makes the site from the answer to its request to join.
func takeContract(s *site.Site, joining *site.Joining, c *parcel.Parcel) (*contract.Contract, error) {
	raw, err := c.One(parcel.KindContract, contract.MaxBytes)
	if err != nil {
		return nil, err
	}
	if wire.HashOf(raw) != joining.Study {
		return nil, errors.New("the parcel does not hold the contract that the invite names")
	}
	agreed, err := contract.Decode(raw)
	if err != nil {
		return nil, err
	}
	analyst, err := c.Statement()
	if err != nil {
		return nil, err
	}
	id, err := s.Identity()
	if err != nil {
		return nil, err
	}
	v := &Visit{site: s, ID: id, Study: joining.Study}
	if err := v.noteJoined(joining.Analyst); err != nil {
		return nil, err
	}
	return agreed, s.PutJoined(joining.Connection, analyst, raw)
}

// decoded reads the only item of a kind, which is JSON; nil if there is none.
func decoded[T any](c *parcel.Parcel, kind string, most int64) (*T, error) {
	b, err := c.One(kind, most)
	if b == nil || err != nil {
		return nil, err
	}
	v := new(T)
	if err := json.Unmarshal(b, v); err != nil {
		return nil, fmt.Errorf("the parcel's %s is not the JSON that was expected; is it of a Concord of the same version?",
			kind)
	}
	return v, nil
}

// printable makes a status safe to show.
func printable(st *api.Status) {
	st.State = api.State(wire.Printable(string(st.State)))
	st.Problem = wire.Printable(st.Problem)
	for _, names := range [][]string{st.WaitingFor, st.Asking, st.Pending} {
		for i, name := range names {
			names[i] = wire.Printable(name)
		}
	}
}

// NumberTime shows a parcel's number as the time that it is.
func NumberTime(number int64) string { return time.Unix(number, 0).UTC().Format("2006-01-02 15:04:05") }
