package concordd

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/identity"
	"concord/internal/server"
	"concord/internal/store"
	"concord/wire"
)

func (p *program) removeCommand() *cobra.Command {
	var prefix, reason string
	var replace bool
	cmd := &cobra.Command{
		Use:   "remove NAME | FINGERPRINT",
		Short: "Take a party out of the roster",
		Long: `Before setup is complete: the others confirm a new roster, with a new phrase, and
setup begins anew. It has one party fewer, or with --replace waits for another to
take the place (concordd invite); so a site that has lost its keys comes back.

After setup: an amendment that you sign. The other parties' programs follow it and
tell people. What the party has sent is deleted, and a model that was made of it is
replaced, as if it had withdrawn. The anchor is not taken back: whoever leaves knows
it, and together with you could undo every party's projection.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.member(cmd.Context(), prefix, args[0], func(srv *server.Server, st store.Study, m *identity.Statement) error {
				if err := srv.Remove(cmd.Context(), st.Hash, m.Fingerprint(), reason, replace); err != nil {
					return err
				}
				fmt.Fprintf(p.out, "removed %q, %s\n", m.Name, m.Fingerprint().Short())
				return p.sayRoster(cmd.Context(), srv, st, p.out)
			})
		},
	}
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	cmd.Flags().StringVar(&reason, "reason", "", "why; the other parties are told")
	cmd.Flags().BoolVar(&replace, "replace", false, "before setup is complete: another party is to take the place")
	return cmd
}

func (p *program) withdrawCommand() *cobra.Command {
	var prefix, reason string
	cmd := &cobra.Command{
		Use:   "withdraw NAME | FINGERPRINT",
		Short: "Withdraw a party that has asked for it on paper",
		Long: `For a party that cannot run concord withdraw itself: keep its signed letter. Its
contribution, uploads and result are deleted, and the others get a model that is
made without it. The other parties are told that it was on your word. Prints the
statement of what was deleted and what remains, for the party.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.member(cmd.Context(), prefix, args[0], func(srv *server.Server, st store.Study, m *identity.Statement) error {
				c, err := contract.Decode(st.Contract)
				if err != nil {
					return err
				}
				w, err := srv.WithdrawOnPaper(cmd.Context(), st.Hash, m.Fingerprint(), reason)
				if err != nil {
					return err
				}
				fmt.Fprintf(p.out, "%q, %s, has withdrawn\n", m.Name, m.Fingerprint().Short())
				for _, d := range w.Deleted {
					fmt.Fprintf(p.out, "deleted: a %s of round %d, %d bytes, manifest %s\n", d.Kind, d.Round, d.Bytes, d.Manifest.Short())
				}
				for _, r := range w.Remains(c) {
					fmt.Fprintf(p.out, "remains: %s\n", r)
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&prefix, "study", "", "the first digits of the study's hash, if there are several")
	cmd.Flags().StringVar(&reason, "reason", "on paper", "what the other parties are told")
	return cmd
}

// member finds a party that takes part, or did, by its name or the first digits of its
// fingerprint.
func (p *program) member(ctx context.Context, prefix, who string, do func(*server.Server, store.Study, *identity.Statement) error) error {
	id, st, s, err := p.openStudy(ctx, prefix)
	if err != nil {
		return err
	}
	defer st.Close()
	in, err := st.Members(ctx, s.Hash)
	if err != nil {
		return err
	}
	left, err := st.Left(ctx, s.Hash)
	if err != nil {
		return err
	}
	for _, m := range append(in, left...) {
		if meant(who, m.Name, m.Fingerprint()) {
			return do(server.New(id, st, slog.New(slog.DiscardHandler)), s, m)
		}
	}
	return wire.WithHint(fmt.Errorf("no party of the name or fingerprint %q takes part", who), "concordd status names them; concordd turn-away refuses one that asks")
}
