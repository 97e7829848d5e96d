package chaos

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Files are carried on a stick, a folder that no trouble touches: what happens to files
// on their way is not what is played here.

// reaches are the steps that need the analyst, and whether they have something to say.
var reaches = map[string]bool{"roster": false, "roster confirm": true, "sync": true, "send": true, "receive": false}

// reach types a command until it is done, by files or over the network as a coin says
// where both are played.
func (q *holder) reach(ctx context.Context, step string, args ...string) (string, error) {
	says, either := reaches[step]
	if !q.play.files || !either {
		return q.concord(ctx, step, args...)
	}
	if !q.carries() {
		return q.concord(ctx, step, append(slices.Clone(args), "--online")...)
	}
	for {
		typed := slices.Clone(args)
		if says {
			typed = append(typed, "--to", q.out())
		}
		text, waits, err := q.play.typed(ctx, q.machine, step, q.play.programs.Concord, append([]string{"--dir", filepath.Join(q.dir, siteDir)}, typed...), false)
		if err != nil {
			return "", err
		}
		if !says { // what was said before may not have reached the analyst
			if _, err := q.concord(ctx, "concord give", "give", q.out()); err != nil {
				return "", err
			}
		}
		if _, err := q.carry(ctx); err != nil || !waits {
			return text, err
		}
	}
}

// join lets a party join, by a file or over the network.
func (q *holder) join(ctx context.Context, invite string) error {
	args := []string{"join", invite, "--name", q.name}
	if !q.play.files || !q.carries() {
		return q.do(ctx, "join", args...)
	}
	if _, err := q.concord(ctx, "join", append(args, "--to", q.out())...); err != nil {
		return err
	}
	for { // until the analyst has let it in
		text, err := q.carry(ctx)
		if err != nil {
			return err
		}
		if !strings.Contains(text, "has not let this site in") {
			break
		}
		if !wait(ctx, 100*time.Millisecond) {
			return ctx.Err()
		}
	}
	q.acknowledged("join")
	return q.check(q.folder())
}

// carry takes the party's file to the analyst and the answer back, and returns what
// taking it printed.
func (q *holder) carry(ctx context.Context) (string, error) {
	if _, err := q.play.concordd(ctx, "concordd take", "take", q.out()); err != nil {
		return "", err
	}
	if _, err := q.play.concordd(ctx, "concordd give", "give", "--to", q.name, "--out", q.back()); err != nil {
		return "", err
	}
	return q.concord(ctx, "concord take", "take", q.back())
}

// carries tosses the coin.
func (q *holder) carries() bool {
	q.play.mu.Lock()
	defer q.play.mu.Unlock()
	return q.play.rnd.IntN(2) == 0
}

func (q *holder) stick(name string) string {
	dir := filepath.Join(q.play.dir, "stick")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return filepath.Join(q.play.dir, "no-stick", name) // the command says what is wrong
	}
	return filepath.Join(dir, name)
}

func (q *holder) out() string  { return q.stick(q.machine.name + "-out.parcel") }
func (q *holder) back() string { return q.stick(q.machine.name + "-back.parcel") }
