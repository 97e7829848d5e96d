package chaos

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"concord/bundle"
	"concord/internal/site"
	"concord/wire"
)

// take lets a party take part, from its invite to its model.
func (q *holder) take(ctx context.Context, invite string) error {
	if err := q.join(ctx, invite); err != nil {
		return err
	}
	phrase, err := q.phrase(ctx)
	if err != nil {
		return err
	}
	data := q.play.input(dataFile(q.i))
	if q.play.protocol == "pool" {
		if err := q.pool(ctx, phrase, data); err != nil {
			return err
		}
	}
	for _, step := range [][]string{
		{"roster confirm", "--phrase", phrase},
		{"sync"},
		{"check", data},
		{"prepare", data},
		{"review"},
		{"approve", "--policy", q.play.input("policy.yaml")},
		{"send"},
		{"receive"},
		{"close", "--yes"},
		{"predict", q.play.input(dataFile(len(names)))},
		{"status"},
	} {
		args := append(strings.Fields(step[0]), step[1:]...)
		if err := q.do(ctx, step[0], args...); err != nil {
			return err
		}
		if step[0] == "sync" {
			if err := q.play.meet(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// do types a command until it is done and remembers what that acknowledged.
func (q *holder) do(ctx context.Context, step string, args ...string) error {
	_, err := q.reach(ctx, step, args...)
	if err != nil {
		return err
	}
	q.acknowledged(step)
	if err := q.check(q.folder()); err != nil {
		return fmt.Errorf("%s: after %s was done: %w", q.name, step, err)
	}
	return nil
}

func (q *holder) concord(ctx context.Context, step string, args ...string) (string, error) {
	return q.play.until(ctx, q.machine, step, q.play.programs.Concord, append([]string{"--dir", filepath.Join(q.dir, siteDir)}, args...))
}

func (q *holder) phrase(ctx context.Context) (string, error) {
	text, err := q.reach(ctx, "roster", "roster")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if words, ok := strings.CutPrefix(line, "phrase: "); ok {
			return strings.TrimSpace(words), nil
		}
	}
	return "", fmt.Errorf("%s: concord roster printed no phrase", q.name)
}

// acknowledged notes what must be there from now on.
func (q *holder) acknowledged(step string) {
	f := q.folder()
	q.play.mu.Lock()
	defer q.play.mu.Unlock()
	q.done[step] = true
	switch step {
	case "sync":
		if seed, err := f.readFile(siteDir + "/anchor.secret"); err == nil {
			q.seed = seed
		}
	case "prepare":
		if b, err := f.readFile(siteDir + "/contribution/leaves/manifest.json"); err == nil {
			q.draft = wire.HashOf(b)
		}
	}
}

// has reports whether a step was acknowledged.
func (q *holder) has(step string) bool {
	q.play.mu.Lock()
	defer q.play.mu.Unlock()
	return q.done[step]
}

// kinds of bundles that parties send.
var kinds = []string{bundle.KindSetup, site.PoolName(1, 1), site.PoolName(1, 2), bundle.KindContribution}
