package concord

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"concord/internal/api"
	"concord/internal/visit"
	"concord/wire"
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
	return p.byFile(cmd, false)
}

func (p *program) status(ctx context.Context, asJSON bool) error {
	return p.visit(visit.Looking, func(v *visit.Visit) error {
		pr, err := v.Progress(ctx)
		switch {
		case err != nil:
			if pr.Unanswered && !asJSON {
				p.printf("%s: as this site's folder has it: %s\n", pr.Name, v.SoFar())
			}
			return err
		case asJSON:
			err = p.printProgressJSON(pr)
		case pr.Withdrawn:
			p.printf("%s: this site has withdrawn; concord withdraw says again what was deleted and what remains\n", pr.Name)
		default:
			p.printProgress(v, pr)
		}
		if err == nil && pr.Turn.WaitingFor != "" {
			return &wire.Waiting{For: pr.Turn.WaitingFor}
		}
		return err
	})
}

// printProgress says how far the study is.
func (p *program) printProgress(v *visit.Visit, pr visit.Progress) {
	st := pr.Status
	if pr.Since != 0 {
		p.printf("as the analyst's parcel of %s UTC has it:\n", visit.NumberTime(pr.Since))
	}
	p.printf("%s: %s, %d of %d parties have joined\n", pr.Name, st.State, st.Present, st.Expected)
	if len(st.Pending) > 0 {
		p.printf("still to confirm who comes after setup: %s; concord roster shows it\n", strings.Join(st.Pending, "; "))
	}
	if st.Problem != "" {
		p.printf("problem: %s\n", st.Problem)
	}
	if pool := pr.Turn.Pool; pool != nil && pool.Stage > 0 {
		p.printf("masked sums: stage %d of %d, %s\n", pool.Stage, pool.Of, pool.Name)
	}
	for _, f := range pr.Notes {
		p.printf("! %s\n", noteInWords(v.PartyNames([]wire.Hash{f.From}), f.Sentence()))
	}
	if pr.Turn.Do != "" {
		p.printf("next: %s\n", pr.Turn.Do)
	}
}

// printProgressJSON says the same for programs.
func (p *program) printProgressJSON(pr visit.Progress) error {
	var answer any = struct {
		Study wire.Hash `json:"study"`
		Name  string    `json:"name"`
		api.Status
		Pool  *visit.Standing   `json:"pool,omitempty"`
		Notes []visit.HeardFlag `json:"notes,omitempty"`
		Next  visit.Step        `json:"next,omitempty"`
	}{pr.Study, pr.Name, pr.Status, pr.Turn.Pool, pr.Notes, pr.Turn.Do}
	if pr.Withdrawn {
		answer = struct {
			Study wire.Hash `json:"study"`
			Name  string    `json:"name"`
			State string    `json:"state"`
		}{pr.Study, pr.Name, "withdrawn"}
	}
	b, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		return err
	}
	p.printf("%s\n", b)
	return nil
}
