package concordd

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"concord/contract"
	"concord/internal/api"
	"concord/internal/server"
	"concord/wire"
)

func (p *program) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how far each study is and who is awaited",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, id, _, st, err := p.open()
			if err != nil {
				return err
			}
			defer st.Close()
			srv := server.New(id, st, slog.New(slog.DiscardHandler))
			studies, err := st.Studies(cmd.Context())
			if err != nil {
				return err
			}
			type line struct {
				Study wire.Hash `json:"study"`
				Name  string    `json:"name"`
				api.Status
			}
			var lines []line
			waiting := []string{}
			for _, s := range studies {
				c, err := contract.Decode(s.Contract)
				if err != nil {
					return err
				}
				status, err := srv.Status(cmd.Context(), s.Hash)
				if err != nil {
					return err
				}
				lines = append(lines, line{s.Hash, c.Name, status})
				if len(status.WaitingFor) > 0 {
					waiting = append(waiting, fmt.Sprintf("%s (%s)", strings.Join(status.WaitingFor, ", "), c.Name))
				}
			}
			if asJSON {
				b, err := json.MarshalIndent(lines, "", "  ")
				if err != nil {
					return err
				}
				fmt.Fprintf(p.out, "%s\n", b)
			} else {
				for _, l := range lines {
					fmt.Fprintf(p.out, "%s  %s: %s, %d of %d parties have joined\n", l.Study.Short(), l.Name, l.State, l.Present, l.Expected)
					for _, name := range l.Asking {
						fmt.Fprintf(p.out, "  asks to be let in: %q (concordd admit)\n", name)
					}
					if len(l.Pending) > 0 {
						fmt.Fprintf(p.out, "  still to confirm who comes after setup: %s\n", strings.Join(l.Pending, "; "))
					}
					if l.Problem != "" {
						fmt.Fprintf(p.out, "  problem: %s\n", l.Problem)
					}
				}
			}
			if len(waiting) > 0 {
				return &wire.Waiting{For: strings.Join(waiting, "; ")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
