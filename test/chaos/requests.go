package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"concord/internal/server"
)

// Attack says what malformed requests did to a server.
type Attack struct {
	Requests int `json:"requests"`
	// Of counts them by kind; Answers by the status that the server answered.
	Of      map[string]int `json:"kinds"`
	Answers map[string]int `json:"answers"`
	// Before and After are the server's resident memory in bytes, before the first
	// and after the last; Most is the most that it ever was.
	Before int64 `json:"rss_before"`
	After  int64 `json:"rss_after"`
	Most   int64 `json:"rss_most"`
	// Log counts the lines of the server's log, in which every kind is found.
	Log int `json:"log_lines"`
	// Audit is what the analyst's audit log says of them.
	Audit string `json:"audit"`
	// Silent says that connections which fall silent were opened too, and ended by the
	// server.
	Silent  bool    `json:"silent"`
	Seconds float64 `json:"seconds"`
}

// silentFrom is the number of requests from which on that is tried: it takes a minute.
const silentFrom = 5000

// growth is how much more memory a server may hold after the requests than before: a
// heap keeps some room for garbage.
const growth = 48 << 20

// Requests plays a study up to its setup, sends the server N malformed requests of
// every kind from parties and from strangers, and lets the study go on to its end: the
// server must still serve, hold no more memory than before, and have every kind in its
// log.
func Requests(ctx context.Context, opt Options) (*Attack, error) {
	opt = opt.filled()
	a := &Attack{Of: map[string]int{}, Answers: map[string]int{}}
	dir := filepath.Join(opt.Dir, "requests")
	begun := time.Now()
	p, result, err := one(ctx, opt, opt.Protocols[0], dir, rand.New(rand.NewPCG(opt.Seed, 8)), trouble{
		between:  func(ctx context.Context, p *play) error { return p.attack(ctx, opt, a) },
		attacked: true,
	})
	if err != nil {
		return a, fmt.Errorf("the study with malformed requests, which is kept in %s: %w", dir, err)
	}
	if a.Audit = strings.TrimSpace(p.refused); a.Audit == "" {
		return a, errors.New("the analyst's audit log does not say that requests were refused")
	}
	if result.Results != result.Of {
		return a, fmt.Errorf("%d of %d results are right after the malformed requests", result.Results, result.Of)
	}
	a.Seconds = time.Since(begun).Seconds()
	opt.Say("malformed requests, and the study around them: %.1f s", p.took.Seconds())
	return a, nil
}

// raiseLimits lets every request through to what judges it: with the limits that a
// server has, most would be told to come later.
func raiseLimits(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(b, &config); err != nil {
		return err
	}
	const much = 1 << 30
	config["limits"] = server.Limits{KeyRequests: much, KeyBurst: much, AddressRequests: much, AddressBurst: much, WrongRequests: much, WrongBurst: much}
	if b, err = json.Marshal(config); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o644)
}

// kind is one way to be malformed.
type kind struct {
	name string
	// weight is how often it comes, of all weights.
	weight int
	// send sends one, and returns the status of the answer, 0 for none.
	send func(t *target, rnd *rand.Rand) (int, error)
	// want are the statuses that are right; 0 is hanging up.
	want []int
	// log must stand in the server's log.
	log *regexp.Regexp
}

// attack sends the requests and checks what they did.
func (p *play) attack(ctx context.Context, opt Options, a *Attack) error {
	t, err := p.target(ctx)
	if err != nil {
		return err
	}
	defer t.close()
	total := 0
	for _, k := range attacks {
		total += k.weight
	}
	// Every kind a few times first: what a server keeps for good, it keeps then.
	var plan []int
	for i := range attacks {
		plan = append(plan, i, i, i)
	}
	warm := len(plan)
	rnd := rand.New(rand.NewPCG(opt.Seed, 9))
	for range max(opt.N, 2*warm) - warm {
		i, n := 0, rnd.IntN(total)
		for n >= attacks[i].weight {
			n -= attacks[i].weight
			i++
		}
		plan = append(plan, i)
	}
	if err := t.sendAll(plan[:warm], a, 1); err != nil {
		return err
	}
	if a.Before, err = t.settled(); err != nil {
		return err
	}
	if err := t.sendAll(plan[warm:], a, 2); err != nil {
		return err
	}
	if a.Silent = opt.N >= silentFrom; a.Silent {
		if err := t.silent(); err != nil {
			return err
		}
	}
	if a.After, err = t.settled(); err != nil {
		return err
	}
	if a.Most, err = memory(t.pid, "VmHWM"); err != nil {
		return err
	}
	if a.After > a.Before+growth {
		return fmt.Errorf("the server holds %d MB after %d malformed requests, %d MB before", a.After>>20, a.Requests, a.Before>>20)
	}
	return p.explained(a)
}

// sendAll sends requests, eight at a time.
func (t *target) sendAll(plan []int, a *Attack, seed uint64) error {
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for w := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(w)))
			for i := range next {
				k := attacks[i]
				status, err := k.send(t, rnd)
				if err == nil && !slices.Contains(k.want, status) {
					err = fmt.Errorf("it was answered with status %d, must be one of %v", status, k.want)
				}
				mu.Lock()
				a.Requests++
				a.Of[k.name]++
				a.Answers[answer(status)]++
				if err != nil && failed == nil {
					failed = fmt.Errorf("a malformed request of kind %q: %w", k.name, err)
				}
				mu.Unlock()
			}
		})
	}
	for _, i := range plan {
		mu.Lock()
		stop := failed != nil || t.ctx.Err() != nil
		mu.Unlock()
		if stop {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(failed, t.ctx.Err())
}

func answer(status int) string {
	if status == 0 {
		return "hung up"
	}
	return strconv.Itoa(status)
}

// settled is the server's memory when it has nothing to do.
func (t *target) settled() (int64, error) {
	if !wait(t.ctx, 2*time.Second) {
		return 0, t.ctx.Err()
	}
	if status, err := t.get(t.member, "/healthz"); err != nil || status != http.StatusOK {
		return 0, fmt.Errorf("the server does not serve any more: status %d, %w", status, err)
	}
	return memory(t.pid, "VmRSS")
}

// memory reads a figure of a process, in bytes.
func memory(pid int, name string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == name+":" {
			kib, err := strconv.ParseInt(words[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s", pid, name)
}

// explained looks in the server's log for every kind that has a line of its own there.
func (p *play) explained(a *Attack) error {
	b, err := os.ReadFile(p.logFile())
	if err != nil {
		return err
	}
	a.Log = strings.Count(string(b), "\n")
	for _, k := range attacks {
		if k.log != nil && !k.log.Match(b) {
			return fmt.Errorf("nothing in the server's log explains requests of kind %q", k.name)
		}
	}
	if strings.Contains(string(b), "internal error") {
		return errors.New("the server's log speaks of internal errors")
	}
	return nil
}
