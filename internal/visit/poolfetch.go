package visit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"concord/bundle"
	"concord/identity"
	"concord/internal/api"
	"concord/internal/durable"
	"concord/internal/post"
	"concord/internal/site"
	"concord/internal/visit/event"
	"concord/masked"
)

// fetchPool fetches the other parties' messages of a stage and takes those that it has
// not taken. A message that is of no use stops nothing: its sender is awaited.
func (v *Visit) fetchPool(ctx context.Context, c post.Post, r *poolRound) error {
	waiting, err := c.Bundles(ctx)
	if err != nil {
		return err
	}
	changed := false
	for _, info := range waiting {
		if info.Kind != bundle.KindPool || info.Round != r.stage {
			continue
		}
		origin, err := v.Chain.Root().Member(v.Chain.Origin(info.Sender))
		if err != nil || info.Number < 1 || info.Number > api.PoolMessages(len(v.Chain.Root().Members)) {
			continue // not of those who sum, or more than the stage can have
		}
		name := site.PoolName(info.Round, info.Number) + "-" + origin.Fingerprint().String()
		if slices.Contains(r.kept.Taken, name) || r.kept.Refused[name] != "" {
			continue
		}
		switch err := v.takeMessage(ctx, c, r, origin, info); {
		case errors.Is(err, masked.ErrLeft):
			v.tell(event.MessageLate{Number: info.Number, From: origin})
			r.refuse(name, "left")
		case err != nil:
			var party *masked.PartyError
			signed := errors.As(err, &party) || errors.Is(err, masked.ErrUnfit)
			if !signed && !refusedBundle(err) {
				return fmt.Errorf("message %d of stage %d from %q: %w", info.Number, r.stage, origin.Name, err)
			}
			v.tell(event.MessageUseless{Number: info.Number, Stage: r.stage, From: origin, Why: err})
			if signed { // what was damaged on its way may come whole another time
				r.refuse(name, err.Error())
			}
		default:
			r.kept.Taken = append(r.kept.Taken, name)
		}
		changed = true
	}
	if !changed {
		return nil
	}
	return r.keep()
}

// takeMessage fetches one message and hands it to the round. The words of a ready
// message are kept under their SHA-256.
func (v *Visit) takeMessage(ctx context.Context, c post.Post, r *poolRound, from *identity.Statement,
	info api.BundleInfo) error {
	reader, closeFile, err := v.fetch(ctx, c, from, info, api.PoolBytes(v.Whole))
	if err != nil {
		return err
	}
	defer closeFile()
	member := ""
	for _, m := range reader.Manifest.Members {
		if strings.HasSuffix(m.Name, ".json") && member == "" {
			member = m.Name
		}
	}
	raw, err := reader.Bytes(member, masked.MaxHeadBytes)
	if err != nil {
		return fmt.Errorf("%w: %w", masked.ErrUnfit, err)
	}
	if r.Taken(raw) { // passed on by another; its words are here, and are not written again
		return nil
	}
	head, err := masked.DecodeHead(raw)
	if err != nil {
		return &masked.PartyError{Party: from.Fingerprint(), Name: from.Name,
			What: "sent what is no message of masked sums: " + err.Error()}
	}
	if head.Kind != masked.KindReady {
		return r.Take(raw, nil)
	}
	if member == readyMember && reader.Approval.Policy == policyFollows {
		return &masked.PartyError{Party: from.Fingerprint(), Name: from.Name,
			What: "sent figures that nobody there has approved"}
	}
	path := v.site.Pool(wordsFile(*head.Body))
	if err := v.site.MakePool(); err != nil {
		return err
	}
	words, err := reader.Member(wordsMember)
	if err != nil {
		return fmt.Errorf("%w: %w", masked.ErrUnfit, err)
	}
	return durable.Write(path, draftPerm, func(f *os.File) error {
		return r.Take(raw, io.TeeReader(words, f))
	})
}

// refusedBundle reports whether an error says that a bundle itself is wrong, and not
// what carried it.
func refusedBundle(err error) bool {
	for _, e := range []error{bundle.ErrVersion, bundle.ErrDamaged, bundle.ErrMismatch, bundle.ErrSignature,
		bundle.ErrApproval} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (r *poolRound) refuse(name, why string) {
	if r.kept.Refused == nil {
		r.kept.Refused = map[string]string{}
	}
	r.kept.Refused[name] = why
}
