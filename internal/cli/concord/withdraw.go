package concord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"concord/audit"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

func (p *program) withdrawCommand() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "withdraw",
		Short: "Leave the study, and have deleted what this site sent",
		Long: `Signs that this site withdraws. The analyst's program deletes its contribution,
uploads and result, and whatever of the models made with its rows nobody has
fetched; the others get a new model, made of their rows alone. What was deleted, and
what remains and why, comes back signed, is printed, and stays in withdrawn.txt.

Asks for the study's name. It cannot be undone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return p.withdraw(cmd.Context(), name) },
	}
	cmd.Flags().StringVar(&name, "name", "", "the study's name, instead of typing it when asked")
	return p.byFile(cmd, true)
}

func (p *program) withdraw(ctx context.Context, name string) error {
	v, unlock, err := p.change()
	if err != nil {
		return err
	}
	defer unlock()
	if v.site.Has(site.WithdrawnFile) {
		b, err := os.ReadFile(v.site.Path(site.RemainsFile))
		p.printf("%s", b)
		return err
	}
	if err := v.needRoster(); err != nil {
		return err
	}
	if name == "" {
		p.printf("withdrawing from %q cannot be undone; type the study's name: ", v.contract.Name)
		name, _ = p.in.ReadString('\n')
	}
	if strings.TrimSpace(name) != v.contract.Name {
		return wire.WithHint(errors.New("that is not the study's name; nothing was withdrawn"), fmt.Sprintf("the study is called %q", v.contract.Name))
	}
	c, err := v.dial()
	if err != nil {
		return err
	}
	defer c.Close()
	a, err := v.site.Withdrawal()
	if err != nil {
		return err
	}
	if a == nil || a.From != v.epoch {
		if _, err := p.follow(ctx, v, c); err != nil {
			return err
		}
		if a, err = v.chain.Propose(member.AmendWithdraw, v.own(), nil, ""); err != nil {
			return err
		}
		a.Sign(v.id)
		if err := v.noteOnce(audit.Event{Kind: audit.Withdrawn, Epoch: a.To, Party: v.own(), Note: "this site withdraws"}); err != nil {
			return err
		}
		if err := v.site.PutWithdrawal(a); err != nil {
			return err
		}
	}
	return p.sendWithdrawal(ctx, v, c, a)
}

func (p *program) sendWithdrawal(ctx context.Context, v *visit, c post.Post, a *member.Amendment) error {
	answer, err := c.Amend(ctx, a.Encode())
	var refusal *client.Refusal
	switch {
	case errors.Is(err, post.ErrLater):
		p.printf("the withdrawal is signed and goes with the next parcel; concord take takes the analyst's receipt\n")
		return nil
	case errors.As(err, &refusal) && refusal.Code == api.CodeLeft:
		// Setup was not complete: there was no chain to amend.
		return p.left(v, []byte("{}\n"), []string{refusal.Reason, "no data had left; whoever has fetched this site's share of the anchor cannot use it any more"})
	case errors.As(err, &refusal) && refusal.Code == api.CodeConflict:
		// Another amendment came first: follow it and sign again.
		if _, followErr := p.follow(ctx, v, c); followErr != nil {
			return followErr
		}
		if a.From == v.epoch {
			return err
		}
		return wire.WithHint(err, "repeat the command: the roster has changed, and what was signed is for the one before")
	case err != nil:
		return err
	}
	receipt, err := member.DecodeWithdrawal(answer.Withdrawal, v.analyst)
	if err != nil {
		return err
	}
	if receipt.Study != v.study || receipt.Epoch != a.To || !v.chain.Same(receipt.Party, v.own()) {
		return errors.New("the server's receipt is for another withdrawal")
	}
	told := api.Amended{Amendment: answer.Amendment}
	if v.chain.At(a.To) == nil {
		if err := site.Follow(v.chain, told); err != nil {
			return err
		}
		if err := v.site.PutAmended(v.chain.Head().Number, told); err != nil {
			return err
		}
	}
	var lines []string
	for _, d := range receipt.Deleted {
		what := "this site's " + d.Kind
		if d.Kind == "result" {
			what = fmt.Sprintf("a result of round %d", d.Round)
		}
		lines = append(lines, fmt.Sprintf("deleted: %s, %d bytes, manifest %s", what, d.Bytes, d.Manifest.Short()))
	}
	for _, r := range receipt.Remains(v.contract) {
		lines = append(lines, "remains: "+r)
	}
	return p.left(v, answer.Withdrawal, lines)
}

// left ends the study at a site that has withdrawn.
func (p *program) left(v *visit, receipt []byte, lines []string) error {
	text := fmt.Sprintf("%q has withdrawn from %q\n%s\n", v.id.Statement.Name, v.contract.Name, strings.Join(lines, "\n"))
	if err := v.site.CloseSetup(); err != nil {
		return err
	}
	if err := v.site.PutWithdrawn(receipt, text); err != nil {
		return err
	}
	p.printf("%sthe same stands in %s; the analyst's signed receipt in %s\n", text, v.site.Path(site.RemainsFile), v.site.Path(site.WithdrawnFile))
	return nil
}

// refusedAsStranger reports whether the server knows no party with the keys that asked.
func refusedAsStranger(err error) bool {
	var refusal *client.Refusal
	return errors.As(err, &refusal) && (refusal.Code == api.CodeForbidden || refusal.Code == api.CodeSignature)
}
