package server

import (
	"net/http"

	"concord/internal/api"
	"concord/study"
)

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	return s.ok(w, map[string]string{"status": "ok"})
}

// identity gives the analyst's statement to anybody: it is public.
func (s *Server) identity(w http.ResponseWriter, _ *http.Request) error {
	return s.ok(w, api.Identity{Statement: s.id.Statement.Encode()})
}

// join takes a party into the roster that holds an unused invite, and whose
// connection proves the TLS key of its statement.
func (s *Server) join(w http.ResponseWriter, r *http.Request) error {
	hash, err := pathStudy(r)
	if err != nil {
		return err
	}
	key, err := clientKey(r)
	if err != nil {
		return err
	}
	var req api.JoinRequest
	if err := readJSON(w, r, &req); err != nil {
		return err
	}
	statement, err := study.DecodeStatement(req.Statement)
	if err != nil {
		return refused(err)
	}
	if statement.Role != study.RoleParty {
		return forbidden("the statement is an %s's; only parties join", statement.Role)
	}
	if statement.TLSKey != key {
		return forbidden("the connection does not hold the TLS key of the statement")
	}
	st, err := s.store.Study(r.Context(), hash)
	if err != nil {
		return err
	}
	contract, err := s.contract(st)
	if err != nil {
		return err
	}
	if err := s.store.Join(r.Context(), hash, study.HashOf(req.Secret), statement, s.id.Statement, contract.Parties); err != nil {
		return err
	}
	s.log.Info("joined", "study", hash.Short(), "party", statement.Name, "fingerprint", statement.Fingerprint().Short())
	return s.ok(w, api.JoinResponse{Contract: st.Contract})
}

func (s *Server) roster(w http.ResponseWriter, r *http.Request) error {
	v, _, err := s.request(r)
	if err != nil {
		return err
	}
	answer := api.Roster{Number: 1, Closed: v.roster != nil, Statements: [][]byte{s.id.Statement.Encode()}}
	for _, m := range v.members {
		answer.Statements = append(answer.Statements, m.Encode())
	}
	for _, c := range v.confirmations {
		answer.Confirmations = append(answer.Confirmations, c.Encode())
	}
	return s.ok(w, answer)
}

func (s *Server) confirm(w http.ResponseWriter, r *http.Request) error {
	v, party, err := s.request(r)
	if err != nil {
		return err
	}
	if v.roster == nil {
		return notYet("the roster is not closed: %d of %d parties have joined", len(v.members), v.contract.Parties)
	}
	var raw []byte
	if err := readJSON(w, r, &raw); err != nil {
		return err
	}
	c, err := study.DecodeConfirmation(raw)
	if err != nil {
		return refused(err)
	}
	if c.Party != party.Fingerprint() {
		return forbidden("the confirmation is another party's")
	}
	if err := c.Check(v.roster, v.hash); err != nil {
		return refused(err)
	}
	if err := s.store.AddConfirmation(r.Context(), v.hash, c); err != nil {
		return err
	}
	s.log.Info("confirmed", "study", v.hash.Short(), "party", party.Name)
	return s.ok(w, struct{}{})
}

func (s *Server) status(w http.ResponseWriter, r *http.Request) error {
	v, _, err := s.request(r)
	if err != nil {
		return err
	}
	return s.ok(w, v.status())
}
