package partycli

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"concord/bundle"
	"concord/internal/api"
	"concord/internal/cli"
	"concord/internal/site"
)

func (p *program) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how far the study is and who is awaited",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return p.status(cmd.Context(), asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (p *program) status(ctx context.Context, asJSON bool) error {
	v, err := p.open()
	if err != nil {
		return err
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	st, err := c.Status(ctx)
	if err != nil {
		return err
	}
	next := v.next(st)
	if asJSON {
		b, err := json.MarshalIndent(struct {
			api.Status
			Next string `json:"next,omitempty"`
		}{st, next}, "", "  ")
		if err != nil {
			return err
		}
		p.printf("%s\n", b)
	} else {
		p.printf("%s: %s, %d of %d parties\n", v.contract.Name, st.State, st.Present, st.Expected)
		if st.Problem != "" {
			p.printf("problem: %s\n", st.Problem)
		}
		if next != "" {
			p.printf("next: %s\n", next)
		}
	}
	if next == "" && len(st.WaitingFor) > 0 {
		return &cli.Waiting{For: strings.Join(st.WaitingFor, ", ")}
	}
	return nil
}

// next is the command that is this site's turn, or "" when others have theirs.
func (v *visit) next(st api.Status) string {
	switch {
	case v.site.Has(site.ModelFile):
		return "concord predict new.csv"
	case v.roster == nil && st.State != api.StateJoining:
		return "concord roster, compare the phrase, then concord roster confirm"
	case v.roster == nil:
		return ""
	case !v.site.Sent(bundle.KindSetup):
		return "concord sync"
	case !v.site.HasSeed() && st.State != api.StateConfirming && st.State != api.StateSetup:
		return "concord sync"
	case !v.site.HasSeed():
		return ""
	case v.site.Sent(bundle.KindContribution):
		if st.State == api.StateReleased {
			return "concord receive"
		}
		return ""
	case v.site.Has(bundle.KindContribution, "leaves", approvalFile):
		return "concord send"
	case v.site.Has(bundle.KindContribution):
		return "concord review, then concord approve"
	}
	return "concord prepare data.csv"
}
