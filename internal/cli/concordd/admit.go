package concordd

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"concord/identity"
	"concord/internal/cli"
	"concord/internal/server"
	"concord/internal/store"
	"concord/wire"
)

func (p *program) admitCommand() *cobra.Command {
	var prefix string
	var all bool
	cmd := &cobra.Command{
		Use:   "admit [NAME | FINGERPRINT]",
		Short: "Let in a party that asks; without a name, list who asks",
		Long: `A party that joins with an invite asks to be let in; until then it takes no part
and sees nothing but the contract. Without a name, admit lists who asks: name,
fingerprint, and for whom you made the invite that was used. Compare the
fingerprint with the one that concord join printed there, by telephone, or leave
that to the twelve words that all parties compare later.

The name, or the first 12 or more digits of the fingerprint, lets one in;
--all lets in everybody who asks.

While the roster is open it takes its place in it. When it is closed and setup is not
complete, there is a new roster with one party more, which all confirm anew. After
setup you propose: it takes part when the members that the contract names have
confirmed it, and one of them has given it the anchor (concord admit).`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return cli.Usagef("give a name, or --all")
			}
			return p.decide(cmd.Context(), prefix, strings.Join(args, ""), all, "admitted", (*server.Server).Admit)
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "let in everybody who asks")
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	return cmd
}

func (p *program) turnAwayCommand() *cobra.Command {
	var prefix string
	cmd := &cobra.Command{
		Use:   "turn-away NAME | FINGERPRINT",
		Short: "Say no to a party that asks; its invite is spent",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.decide(cmd.Context(), prefix, args[0], false, "turned away", (*server.Server).TurnAway)
		},
	}
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	return cmd
}

// decide says yes or no to one party that asks, or to all of them; without a name it
// lists them.
func (p *program) decide(ctx context.Context, prefix, who string, all bool, done string, do func(*server.Server, context.Context, wire.Hash, wire.Hash) error) error {
	id, st, s, err := p.openStudy(ctx, prefix)
	if err != nil {
		return err
	}
	defer st.Close()
	invites, err := st.Invites(ctx, s.Hash)
	if err != nil {
		return err
	}
	var chosen []store.Invite
	asking := 0
	for _, v := range invites {
		if !v.Waiting {
			continue
		}
		asking++
		if all || meant(who, v.UsedBy, v.Statement.Fingerprint()) {
			chosen = append(chosen, v)
		}
		if who == "" && !all {
			fmt.Fprintf(p.out, "asks: %-30q %s%s, with the invite for %q\n", v.UsedBy, v.Statement.Fingerprint().Short(), viewOf(v.Statement), v.Label)
		}
	}
	switch {
	case asking == 0 && (who == "" || all):
		fmt.Fprintf(p.out, "nobody asks\n")
		return nil
	case who == "" && !all:
		fmt.Fprintf(p.out, "next: concordd admit NAME, or concordd turn-away NAME\n")
		return nil
	case len(chosen) == 0:
		return wire.WithHint(fmt.Errorf("nobody of the name or fingerprint %q asks", who), "concordd admit lists who does")
	}
	srv := server.New(id, st, slog.New(slog.DiscardHandler))
	for _, v := range chosen {
		if err := do(srv, ctx, s.Hash, v.Statement.Fingerprint()); err != nil {
			return fmt.Errorf("%q: %w", v.UsedBy, err)
		}
		if now, err := srv.Status(ctx, s.Hash); err == nil && done == "admitted" && len(now.Pending) > 0 {
			done = "proposed" // after setup members decide
		}
		fmt.Fprintf(p.out, "%s %q, %s%s, who came with the invite for %q\n", done, v.UsedBy, v.Statement.Fingerprint().Short(), viewOf(v.Statement), v.Label)
	}
	return p.sayRoster(ctx, srv, s, p.out)
}

// sayRoster says how full the roster is.
func (p *program) sayRoster(ctx context.Context, srv *server.Server, s store.Study, out io.Writer) error {
	status, err := srv.Status(ctx, s.Hash)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d of %d parties take part\n", status.Present, status.Expected)
	if len(status.Pending) > 0 {
		fmt.Fprintf(out, "still to confirm who comes after setup: %s\n", strings.Join(status.Pending, "; "))
	}
	return nil
}

// viewOf says which view of the features a party has, if its statement does.
func viewOf(s *identity.Statement) string {
	if s.View == "" {
		return ""
	}
	return fmt.Sprintf(", view %q", s.View)
}
