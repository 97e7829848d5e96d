package visit

import (
	"errors"
	"fmt"

	"concord/contract"
	"concord/identity"
	"concord/internal/client"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/member"
	"concord/pooled"
	"concord/wire"
)

// Options are how a visit goes and who hears of it. The zero value connects, if the site
// does, and tells nobody.
type Options struct {
	// Files says that this visit exchanges files, whatever the site did before.
	Files bool
	// Tell hears what happens, while it happens.
	Tell func(event.Event)
	// Progress hears how far something large has come, Notice what a long wait is for.
	Progress func(what string, done, total int64)
	Notice   func(text string)
}

// Need is what must hold of a site before a step, each with those before it.
type Need int

const (
	// Looking changes nothing and keeps nobody out.
	Looking Need = iota
	// Changing keeps other commands out until the visit ends.
	Changing
	// Confirmed is for sites whose people have confirmed the roster, and that have not
	// withdrawn.
	Confirmed
	// Pooling is for sites that have a part in masked sums.
	Pooling
)

// Misuse is a step that this study or site does not have: asking for it is wrong, whatever
// the state.
type Misuse struct{ err error }

// Error says what is wrong.
func (e *Misuse) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *Misuse) Unwrap() error { return e.err }

func misusef(format string, args ...any) error { return &Misuse{fmt.Errorf(format, args...)} }

// Hints that many steps give.
const (
	stopAndTell   = "do not go on: tell the other parties and the analyst"
	restoreFolder = "restore the site's folder from a copy"
)

// Visit is one visit to a site's folder: the site, what it knows, and what carries its
// words to the analyst.
type Visit struct {
	site *site.Site
	ID   *identity.Identity
	// Whole is the contract that was signed; Contract is the same, or where the contract
	// has views and this site's is known what this site has of it.
	Whole, Contract *contract.Contract
	Study           wire.Hash
	analyst         *identity.Statement
	target          client.Target
	Files           bool // this site exchanges files with the analyst and does not connect
	// Chain leads from the roster that people here confirmed to the present one, roster,
	// in its epoch. They are nil until somebody here has confirmed.
	Chain  *member.Chain
	roster *member.Roster
	epoch  wire.Hash
	// past are the keys that this site had before id.
	past []*identity.Identity
	// pool is what is known of the pooled figures, once it was asked for.
	pool *pooled.Pool

	opt     Options
	carrier post.Post // once something was asked
	unlock  func()
}

// Open begins a visit. Every file is checked again: somebody may have edited it.
func Open(dir string, n Need, opt Options) (*Visit, error) {
	s, err := siteIn(dir)
	if err != nil {
		return nil, err
	}
	v := &Visit{site: s, opt: opt, unlock: func() {}}
	if n >= Changing {
		if v.unlock, err = s.Lock(); err != nil {
			return nil, err
		}
	}
	if err = v.load(); err == nil && n >= Changing {
		err = v.finishRekey()
	}
	if err == nil {
		err = v.holds(n)
	}
	if err != nil {
		v.End()
		return nil, err
	}
	return v, nil
}

// End ends a visit; doing so twice is fine.
func (v *Visit) End() {
	if v.carrier != nil {
		v.carrier.Close()
	}
	v.unlock()
	v.carrier, v.unlock = nil, func() {}
}

// holds says what is missing for a step.
func (v *Visit) holds(n Need) error {
	if n >= Confirmed {
		if v.site.Has(site.WithdrawnFile) {
			return wire.WithHint(errors.New("this site has withdrawn from the study"),
				"concord withdraw says again what was deleted and what remains")
		}
		if err := v.needRoster(); err != nil {
			return err
		}
	}
	if n >= Pooling {
		return v.needsPooling()
	}
	return nil
}

// siteIn is the site of a folder.
func siteIn(dir string) (*site.Site, error) {
	s, err := site.Open(dir)
	if errors.Is(err, site.ErrNoSite) {
		if j, _ := (&site.Site{Dir: dir}).Joining(); j != nil {
			return nil, &wire.Waiting{For: "the analyst's answer: this site has asked to join by a file (concord take the " +
				"one that comes back)"}
		}
		err = wire.WithHint(err, "run concord join INVITE --name NAME first, or name the folder with --dir")
	}
	return s, err
}

// load reads the site's folder.
func (v *Visit) load() (err error) {
	s := v.site
	if v.ID, err = s.Identity(); err != nil {
		return err
	}
	if v.Whole, v.Study, err = s.Contract(); err != nil {
		return err
	}
	v.Contract = v.Whole
	if view := v.viewHere(); view != "" {
		if err := v.through(view); err != nil {
			return fmt.Errorf("the prepared contribution: %w", err)
		}
	}
	if v.analyst, err = s.Analyst(); err != nil {
		return err
	}
	conn, err := s.Connection()
	if err != nil {
		return err
	}
	if v.target, err = v.opt.target(s, conn); err != nil {
		return err
	}
	v.Files = v.opt.Files || s.ByFile()
	return v.loadChain()
}

// target is how a site reaches its server.
func (o Options) target(s *site.Site, conn site.Connection) (client.Target, error) {
	roots, err := s.Trusted()
	return client.Target{TLS: conn.TLS, Address: conn.Address, Prefix: conn.Prefix, Roots: roots,
		Progress: o.Progress, Notice: o.Notice}, err
}

// tell tells whoever listens what has happened.
func (v *Visit) tell(e event.Event) {
	if v.opt.Tell != nil {
		v.opt.Tell(e)
	}
}

// needRoster refuses to go on before people here have confirmed the roster.
func (v *Visit) needRoster() error {
	if candidate, err := v.site.Candidate(); v.roster == nil && candidate != nil && err == nil {
		return wire.WithHint(errors.New("the members have not confirmed this site yet, or it has not heard of it"),
			"run concord sync")
	}
	if v.roster == nil {
		return wire.WithHint(errors.New("nobody here has confirmed the roster yet"),
			"run concord roster, compare the phrase with the other parties, then concord roster confirm")
	}
	return nil
}

// connect reaches the analyst: by the server that the site joined, or by what the analyst's
// parcels brought. Nothing is connected before something is asked.
func (v *Visit) connect() (post.Post, error) {
	if v.carrier == nil {
		c, err := v.dial()
		if err != nil {
			return nil, err
		}
		v.carrier = c
	}
	return v.carrier, nil
}

func (v *Visit) dial() (post.Post, error) {
	if v.Files {
		return post.NewBox(v.site)
	}
	return client.Connect(v.target, v.Study, v.ID, v.analyst)
}

// Own is this site's fingerprint.
func (v *Visit) Own() wire.Hash { return v.ID.Statement.Fingerprint() }

// Others are the other parties' present statements.
func (v *Visit) Others() []*identity.Statement { return v.othersIn(v.roster) }

// needsPooling refuses where the contract pools nothing, and at a site that came late.
func (v *Visit) needsPooling() error {
	if !v.pools() {
		return misusef("this study pools no figures")
	}
	if err := v.enoughOfViews(v.Chain.Root()); err != nil {
		return err
	}
	if v.late() {
		return wire.WithHint(errors.New("this site came after setup; it gets the pooled figures with the anchor"),
			"run concord sync")
	}
	return nil
}
