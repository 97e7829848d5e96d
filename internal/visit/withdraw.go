package visit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"concord/audit"
	"concord/internal/api"
	"concord/internal/client"
	"concord/internal/post"
	"concord/internal/site"
	"concord/member"
	"concord/wire"
)

// refusedAsStranger reports whether the server knows no party with the keys that asked.
func refusedAsStranger(err error) bool {
	var refusal *client.Refusal
	return errors.As(err, &refusal) && (refusal.Code == api.CodeForbidden || refusal.Code == api.CodeSignature)
}

// Withdrawal is how this site leaves the study.
type Withdrawal struct {
	// Text says what was deleted and what remains; already that it stood here before.
	Text    string
	Already bool
	// Later says that it goes with the next parcel.
	Later bool
	// Remains and receipt are the files that keep text and the analyst's signature.
	Remains, Receipt string
}

// Withdraw leaves the study, once name gives its name. It cannot be undone.
func (v *Visit) Withdraw(ctx context.Context, name func() string) (Withdrawal, error) {
	var none Withdrawal
	if v.site.Has(site.WithdrawnFile) {
		b, err := os.ReadFile(v.site.Path(site.RemainsFile))
		return Withdrawal{Text: string(b), Already: true}, err
	}
	if err := v.needRoster(); err != nil {
		return none, err
	}
	if strings.TrimSpace(name()) != v.Contract.Name {
		return none, wire.WithHint(errors.New("that is not the study's name; nothing was withdrawn"),
			fmt.Sprintf("the study is called %q", v.Contract.Name))
	}
	c, err := v.connect()
	if err != nil {
		return none, err
	}
	a, err := v.site.Withdrawal()
	if err != nil {
		return none, err
	}
	if a == nil || a.From != v.epoch {
		if _, err := v.follow(ctx, c); err != nil {
			return none, err
		}
		if a, err = v.Chain.Propose(member.AmendWithdraw, v.Own(), nil, ""); err != nil {
			return none, err
		}
		a.Sign(v.ID)
		if err := v.noteOnce(audit.Event{Kind: audit.Withdrawn, Epoch: a.To, Party: v.Own(),
			Note: "this site withdraws"}); err != nil {
			return none, err
		}
		if err := v.site.PutWithdrawal(a); err != nil {
			return none, err
		}
	}
	return v.sendWithdrawal(ctx, c, a)
}

func (v *Visit) sendWithdrawal(ctx context.Context, c post.Post, a *member.Amendment) (Withdrawal, error) {
	var none Withdrawal
	answer, err := c.Amend(ctx, a.Encode())
	var refusal *client.Refusal
	switch {
	case errors.Is(err, post.ErrLater):
		return Withdrawal{Later: true}, nil
	case errors.As(err, &refusal) && refusal.Code == api.CodeLeft:
		// Setup was not complete: there was no chain to amend.
		return v.left([]byte("{}\n"),
			[]string{refusal.Reason,
				"no data had left; whoever has fetched this site's share of the anchor cannot use it any more"})
	case errors.As(err, &refusal) && refusal.Code == api.CodeConflict:
		// Another amendment came first: follow it and sign again.
		if _, followErr := v.follow(ctx, c); followErr != nil {
			return none, followErr
		}
		if a.From == v.epoch {
			return none, err
		}
		return none, wire.WithHint(err,
			"repeat the command: the roster has changed, and what was signed is for the one before")
	case err != nil:
		return none, err
	}
	receipt, err := member.DecodeWithdrawal(answer.Withdrawal, v.analyst)
	if err != nil {
		return none, err
	}
	if receipt.Study != v.Study || receipt.Epoch != a.To || !v.Chain.Same(receipt.Party, v.Own()) {
		return none, errors.New("the server's receipt is for another withdrawal")
	}
	if v.Chain.At(a.To) == nil {
		if err := v.amend(api.Amended{Amendment: answer.Amendment}); err != nil {
			return none, err
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
	for _, r := range receipt.Remains(v.Contract) {
		lines = append(lines, "remains: "+r)
	}
	return v.left(answer.Withdrawal, lines)
}

// left ends the study at a site that has withdrawn.
func (v *Visit) left(receipt []byte, lines []string) (Withdrawal, error) {
	w := Withdrawal{
		Text: fmt.Sprintf("%q has withdrawn from %q\n%s\n", v.ID.Statement.Name, v.Contract.Name,
			strings.Join(lines, "\n")),
		Remains: v.site.Path(site.RemainsFile), Receipt: v.site.Path(site.WithdrawnFile),
	}
	if err := v.site.CloseSetup(); err != nil {
		return w, err
	}
	return w, v.site.PutWithdrawn(receipt, w.Text)
}
