package concordd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/identity"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/internal/parcel"
	"concord/internal/server"
	"concord/wire"
)

func (p *program) takeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "take FILE...",
		Short: "Take files that sites gave, as if they had come over the network",
		Long: `Takes parcels that concord give, or a command with --to, wrote at a site: requests
to join, confirmations, bundles. Everything in them is checked and kept as if it had
come over the network; sites that connect and sites that bring files take part in
one study. Works while concordd serve runs and when it does not; in the latter case
take also aligns and trains when the last contribution is here.

A parcel is checked whole before anything in it is used. One for another analyst,
from nobody of the study, cut off or changed on its way is refused; taking one
twice, or in another order, changes nothing. Then write the answers with
concordd give.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.take(cmd.Context(), args) },
	}
}

func (p *program) take(ctx context.Context, paths []string) error {
	return p.atWork(func(srv *server.Server) error {
		var failed error
		err := p.undisturbed(ctx, func() error {
			for _, path := range paths {
				failed = errors.Join(failed, p.takeOne(ctx, srv, path))
			}
			return nil
		})
		if err != nil {
			return err
		}
		return errors.Join(failed, p.due(ctx, srv))
	})
}

// longRead is the size from which a parcel takes long enough to say that it is read.
const longRead = 64 << 20

// takeOne takes one parcel and says what came of it.
func (p *program) takeOne(ctx context.Context, srv *server.Server, path string) error {
	f, size, err := parcel.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if size > longRead {
		fmt.Fprintf(p.err, "concordd: reading %s, %d MB\n", path, size>>20)
	}
	t, err := srv.TakeParcel(ctx, f, size)
	if err != nil {
		return told(path, err)
	}
	fmt.Fprintf(p.out, "%s: %q, %s", path, t.From.Name, t.From.Fingerprint().Short())
	if len(t.Done) > 0 {
		fmt.Fprintf(p.out, ": %s", strings.Join(t.Done, ", "))
	}
	fmt.Fprintln(p.out)
	if t.Asks {
		fmt.Fprintf(p.out, "  asks to be let in; next: concordd admit\n")
	}
	if t.Holds != nil && t.Holds.Model {
		fmt.Fprintf(p.out, "  says that it has its model\n")
	}
	for _, kind := range t.Unknown {
		fmt.Fprintf(p.out, "  note: it also holds something of kind %s, which this version of concordd does not know\n", kind)
	}
	var failed error
	for _, err := range t.Refused {
		failed = errors.Join(failed, told(path, err))
	}
	return failed
}

// told is an operation's error as the site would be told it.
func told(path string, err error) error {
	var own interface{ Hint() string }
	if errors.As(err, &own) {
		return fmt.Errorf("%s: %w", path, err)
	}
	e := server.Explain(err)
	if e.Message == "" || e.Code == "internal" {
		return fmt.Errorf("%s: %w", path, err)
	}
	return wire.WithHint(fmt.Errorf("%s: %s", path, e.Message), e.Hint)
}

func (p *program) giveCommand() *cobra.Command {
	var to, out, prefix string
	var all bool
	cmd := &cobra.Command{
		Use:   "give --to NAME --out FILE",
		Short: "Write what a site may know now into a file for it",
		Long: `Writes one file, a parcel, for a site that does not connect, or cannot at the
moment: the contract, the roster, how far the study is, receipts, and the bundles
that wait for it. The site takes it with concord take. It is sealed to that site
and signed by you. Every parcel holds all that the site may know, so that only the
newest is needed, and giving again loses nothing.

A site that only asks to be let in gets the contract.`,
		Example: `  concordd give --to "North hospital" --out north.parcel
  concordd give --all --out /media/stick        one file for each site`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if all == (to != "") {
				return cli.Usagef("name a site with --to, or give --all")
			}
			return p.give(cmd.Context(), prefix, to, out)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the site's name, or the first 12 or more digits of its fingerprint")
	cmd.Flags().BoolVar(&all, "all", false, "write a parcel for every site; --out names a folder")
	cmd.Flags().StringVar(&out, "out", "", "the file to write; with --all the folder")
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	cmd.MarkFlagRequired("out")
	return cmd
}

func (p *program) give(ctx context.Context, prefix, to, out string) error {
	return p.atWork(func(srv *server.Server) error {
		if err := p.due(ctx, srv); err != nil {
			return err
		}
		s, err := pick(ctx, p.store, prefix)
		if err != nil {
			return err
		}
		sites, err := srv.Sites(ctx, s.Hash)
		if err != nil {
			return err
		}
		found := 0
		for _, site := range sites {
			path, fingerprint := out, site.Fingerprint()
			switch {
			case to == "":
				path = filepath.Join(out, parcelName(s.Hash, site))
			case !meant(to, site.Name, fingerprint):
				continue
			}
			found++
			if err := p.giveOne(ctx, srv, s.Hash, fingerprint, path); err != nil {
				return err
			}
			if to != "" {
				break // one of that name may have left before
			}
		}
		if found == 0 && to != "" {
			return wire.WithHint(fmt.Errorf("no site of the name or fingerprint %q has joined or asks to", to), "take its request to join first: concordd take FILE")
		}
		if found == 0 {
			fmt.Fprintf(p.out, "nobody has joined yet; no file was written\n")
		}
		return nil
	})
}

// parcelName is a file's name that says for whom it is and of which study: letters,
// digits and - of the site's name, and the beginnings of both hashes.
func parcelName(hash wire.Hash, site *identity.Statement) string {
	var name []rune
	for _, r := range strings.ToLower(site.Name) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			name = append(name, r)
		case len(name) > 0 && name[len(name)-1] != '-' && len(name) < 40:
			name = append(name, '-')
		}
	}
	return strings.Trim(string(name), "-") + "-" + site.Fingerprint().Short() + "-" + hash.Short()[:6] + ".parcel"
}

// giveOne writes one parcel and says what is in it.
func (p *program) giveOne(ctx context.Context, srv *server.Server, hash, site wire.Hash, path string) error {
	if err := mayReplace(path); err != nil {
		return err
	}
	var g *server.GivenParcel
	err := durable.Write(path, 0o644, func(f *os.File) (err error) {
		g, err = srv.GiveParcel(ctx, f, hash, site)
		return err
	})
	if err != nil {
		return told(path, err)
	}
	what := "the contract; it awaits concordd admit"
	if g.Left {
		what = "the contract and the receipt of its leaving"
	} else if !g.Asks {
		kinds := map[string]int{}
		for _, b := range g.Bundles {
			kinds[b.Kind]++
		}
		what = fmt.Sprintf("contract, roster and status, %d receipts, %d shares of the anchor", g.Receipts, kinds[bundle.KindSetup])
		if n := kinds[bundle.KindPool]; n > 0 {
			what += fmt.Sprintf(", %d messages of masked sums", n)
		}
		if kinds[bundle.KindResult] > 0 {
			what += ", the result"
		}
	}
	fmt.Fprintf(p.out, "wrote %s for %q, %d bytes: %s\n", path, g.To.Name, g.Bytes, what)
	return nil
}

// mayReplace lets a parcel take the place of a parcel only.
func mayReplace(path string) error {
	ours, err := parcel.IsFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !ours {
		return wire.WithHint(fmt.Errorf("%s already exists and is not a parcel; it was not replaced", path), "name another file with --out")
	}
	return err
}

// atWork runs f with a server on the folder, beside concordd serve or without it.
func (p *program) atWork(f func(*server.Server) error) error {
	_, id, cfg, st, err := p.open()
	if err != nil {
		return err
	}
	defer st.Close()
	p.store = st
	log := slog.New(slog.NewTextHandler(p.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return f(server.New(id, st, log, server.WithLimits(cfg.Limits))) // what comes by file has the same bounds
}

// undisturbed runs f, which brings files into the store, while nobody sweeps it.
func (p *program) undisturbed(ctx context.Context, f func() error) error {
	unlock, err := lockSoon(ctx, (&folder{p.dir}).path(takeLock))
	if errors.Is(err, durable.ErrLocked) {
		return wire.WithHint(fmt.Errorf("another concordd take is at work in %s", p.dir), "wait for it to end")
	}
	if err != nil {
		return err
	}
	defer unlock()
	// Where nobody serves nobody else removes what a crash left.
	switch done, err := durable.Lock((&folder{p.dir}).path(serveLock)); {
	case err == nil:
		err = p.store.Sweep()
		done()
		if err != nil {
			return err
		}
	case !errors.Is(err, durable.ErrLocked):
		return err
	}
	return f()
}

// due aligns and trains what is due if nobody serves; who serves does it otherwise.
func (p *program) due(ctx context.Context, srv *server.Server) error {
	unlock, err := durable.Lock((&folder{p.dir}).path(serveLock))
	if errors.Is(err, durable.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unlock()
	return srv.RunDue(ctx)
}

// Locks of the analyst's folder.
const (
	serveLock = "serve.lock" // held by who serves, or trains
	takeLock  = "take.lock"  // held by who takes parcels, and while the store is swept
)

// lockSoon waits for a lock that is held for moments only.
func lockSoon(ctx context.Context, path string) (unlock func(), err error) {
	const patience, pause = 10 * time.Second, 50 * time.Millisecond
	for begun := time.Now(); ; {
		unlock, err = durable.Lock(path)
		if !errors.Is(err, durable.ErrLocked) || time.Since(begun) > patience {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}
