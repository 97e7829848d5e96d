// Package demo is concord-lab demo: a whole study on embedded data, played by
// the real programs. It calls the commands of concord and concordd as a person
// would type them, each role in a folder of its own; the roles share nothing
// else but a TLS connection on loopback.
package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"concord/contract"
	"concord/internal/cli"
	"concord/internal/cli/concord"
	"concord/internal/cli/concordd"
	"concord/internal/report"
	"concord/wire"
)

// Options are the demonstration's flags.
type Options struct {
	Parties int    // 3 to 8
	Dir     string // where everything is written
	Model   string // kind of the model as in a contract; empty for logistic
	// Protocol is dc, or nri; empty for dc.
	Protocol string
	Verbose  bool // show what every command prints
	// Files: no server runs and nothing connects; the hospitals bring files.
	Files bool
}

// policyFile lets the demonstration approve without asking; in a study a person says
// yes.
const (
	policyFile = "policy.yaml"
	policyYAML = "name: demo\nfloors: {rows: 20, per_class: 5}\napprove: true\n"
)

// marker names the file by which a demo's folder is recognised and may be
// replaced.
const marker = ".concord-demo"

// Run plays the study and prints the comparison.
func Run(ctx context.Context, out io.Writer, opt Options) error {
	if opt.Parties < 3 || opt.Parties > len(hospitals) {
		return cli.Usagef("--parties is %d, must be from 3 to %d", opt.Parties, len(hospitals))
	}
	started := time.Now()
	if _, err := contract.ParseYAML([]byte(opt.yaml())); err != nil {
		return cli.Usagef("--model is %q and --protocol %q: %v", opt.Model, opt.Protocol, err)
	}
	if err := freshDir(opt.Dir); err != nil {
		return err
	}
	d := &demo{Options: opt, out: out, sent: map[string]int64{}}
	if err := d.writeData(); err != nil {
		return err
	}
	if err := d.study(ctx); err != nil {
		return err
	}
	if err := d.compare(ctx, time.Since(started)); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%.1f s. %s shows the same and what left each hospital; each hospital's model is\n%s, as ONNX. Look at what left: %s\n",
		time.Since(started).Seconds(), filepath.Join(opt.Dir, "report.html"),
		filepath.Join(opt.Dir, "*", "concord-site", "model.onnx"),
		filepath.Join(d.party(0), "concord-site", "contribution", "leaves"))
	return nil
}

// demo is one run.
type demo struct {
	Options
	out  io.Writer
	data *dataset
	rows [][]int // of every party
	test []int

	contract *contract.Contract
	phrase   string
	steps    []report.Step
	sent     map[string]int64 // bytes that each hospital's commands say they sent
}

// sentBytes is how commands say it; of files all that is carried counts.
var sentBytes = regexp.MustCompile(`(?m)^(?:sent (?:this site's share of the anchor seed: )?|wrote .*, )(\d+) bytes`)

// freshDir makes an empty folder. It replaces one that a demo made, and touches
// no other that has anything in it.
func freshDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(dir, marker)); err != nil {
			return wire.WithHint(fmt.Errorf("the folder %s is not empty and no demo made it", dir), "name another folder with --out")
		}
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, marker), nil, 0o644)
}

// party is a party's folder; its name is the first word of the hospital's.
func (d *demo) party(i int) string {
	return filepath.Join(d.Dir, strings.ToLower(strings.Fields(hospitals[i])[0]))
}

// writeData gives every hospital its CSV file, and all of them the rows of new
// patients.
func (d *demo) writeData() error {
	var err error
	if d.data, err = loadDataset(); err != nil {
		return err
	}
	if d.rows, d.test, err = d.data.split(d.Parties); err != nil {
		return err
	}
	for i, rows := range d.rows {
		if err := os.Mkdir(d.party(i), 0o755); err != nil {
			return err
		}
		if err := d.data.write(filepath.Join(d.party(i), "data.csv"), rows); err != nil {
			return err
		}
	}
	if err := d.data.write(filepath.Join(d.Dir, "new-patients.csv"), d.test); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(d.Dir, policyFile), []byte(policyYAML), 0o644); err != nil {
		return err
	}
	yaml := d.yaml()
	if err := os.WriteFile(filepath.Join(d.Dir, "study.yaml"), []byte(yaml), 0o644); err != nil {
		return err
	}
	d.contract, err = contract.ParseYAML([]byte(yaml))
	return err
}

// modelLine is where study.yaml names the model.
var modelLine = regexp.MustCompile(`(?m)^model:.*$`)

// ownLines are those that nri does not share.
var ownLines = regexp.MustCompile(`(?m)^(anchor|basis):.*\n`)

// yaml is the study as its analyst would write it.
func (o Options) yaml() string {
	yaml := strings.Replace(studyYAML, "parties: 3", fmt.Sprintf("parties: %d", o.Parties), 1)
	if o.Protocol == "nri" { // anchor and basis have other defaults there
		yaml = ownLines.ReplaceAllLiteralString(yaml, "") + "protocol: nri\nbasis: {dim: 8}\n"
	} else if o.Protocol != "" {
		yaml += fmt.Sprintf("protocol: %q\n", o.Protocol)
	}
	if o.Model != "" {
		yaml = modelLine.ReplaceAllLiteralString(yaml, fmt.Sprintf("model: {kind: %q}", o.Model))
	}
	return yaml
}

// study starts the server and lets every party make its visits.
func (d *demo) study(ctx context.Context) error {
	if d.Files {
		invites, err := d.create(ctx, nowhere)
		if err != nil {
			return err
		}
		if err := os.Mkdir(d.stick(), 0o755); err != nil {
			return err
		}
		return d.visits(ctx, invites)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	invites, err := d.create(ctx, ln.Addr().String())
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	analyst := d.analyst()
	serving, stop := context.WithCancel(ctx)
	var server errGroup
	server.Go(func() error {
		var log bytes.Buffer
		status := concordd.Run(serving, []string{"--dir", analyst, "serve"}, strings.NewReader(""), io.Discard, &log, concordd.WithListener(ln))
		if err := os.WriteFile(filepath.Join(analyst, "serve.log"), log.Bytes(), 0o644); err != nil {
			return err
		}
		if status != cli.StatusDone {
			return fmt.Errorf("demo: concordd serve ended with status %d:\n%s", status, log.String())
		}
		return nil
	})
	err = d.visits(ctx, invites)
	stop()
	return errors.Join(err, server.Wait())
}

// create makes the analyst's folder, the study and an invite for every party.
func (d *demo) create(ctx context.Context, address string) (invites []string, err error) {
	if _, err := d.concordd(ctx, "init", "--name", "Study office", "--address", address); err != nil {
		return nil, err
	}
	if _, err := d.concordd(ctx, "study", "create", filepath.Join(d.Dir, "study.yaml")); err != nil {
		return nil, err
	}
	invites = make([]string, d.Parties)
	for i := range invites {
		line, err := d.concordd(ctx, "invite", "--admit", "--for", hospitals[i])
		if err != nil {
			return nil, err
		}
		invites[i] = strings.TrimSpace(line)
	}
	return invites, nil
}

// visits lets the parties do their four visits, all parties at once within a
// visit, as the invites, the roster and the anchor allow.
func (d *demo) visits(ctx context.Context, invites []string) error {
	d.say("join        every hospital makes its keys and joins with a one-time invite; no data leaves")
	if err := d.everyParty(ctx, func(i int) []string { return d.byFile(i, "join", invites[i], "--name", hospitals[i]) }); err != nil {
		return err
	}
	if err := d.exchange(ctx); err != nil {
		return err
	}
	var err error
	if d.phrase, err = d.readPhrase(ctx); err != nil {
		return err
	}
	d.say("roster      people compare twelve words and confirm who takes part:")
	d.say("            " + d.phrase)
	if err := d.everyParty(ctx, func(i int) []string { return d.byFile(i, "roster", "confirm", "--phrase", d.phrase) }); err != nil {
		return err
	}
	if err := d.exchange(ctx); err != nil {
		return err
	}
	d.say("setup       they agree the secret anchor among themselves; the analyst relays what it cannot read")
	if err := d.untilDone(ctx, "sync"); err != nil {
		return err
	}
	d.say("contribute  each projects its rows with a secret basis, reviews, approves by a written policy, seals and sends")
	for _, args := range [][]string{{"prepare", "data.csv"}, {"review"}, {"approve", "--policy", filepath.Join(d.Dir, policyFile)}, {"send"}} {
		args := args
		if err := d.everyParty(ctx, func(i int) []string {
			switch args[0] {
			case "prepare":
				return []string{"prepare", filepath.Join(d.party(i), "data.csv")}
			case "send":
				return d.byFile(i, "send")
			}
			return args
		}); err != nil {
			return err
		}
	}
	if err := d.exchange(ctx); err != nil {
		return err
	}
	if d.contract.Protocol == "nri" {
		d.say("receive     the analyst aligns, trains, answers for each anchor; every hospital trains its own model on that and scores")
	} else {
		d.say("receive     the analyst aligns, trains one model, seals it to each; every hospital scores new patients")
	}
	if err := d.untilDone(ctx, "receive"); err != nil {
		return err
	}
	if err := d.everyParty(ctx, func(int) []string { return []string{"close", "--yes"} }); err != nil {
		return err
	}
	return d.everyParty(ctx, func(i int) []string {
		return []string{"predict", filepath.Join(d.Dir, "new-patients.csv"), "--out", filepath.Join(d.party(i), "predictions.csv")}
	})
}

func (d *demo) say(line string) { fmt.Fprintln(d.out, line) }

// readPhrase reads the roster's phrase at one hospital, as a person would.
func (d *demo) readPhrase(ctx context.Context) (string, error) {
	text, err := d.concord(ctx, 0, "roster")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "phrase: "); ok {
			return strings.TrimSpace(rest), nil
		}
	}
	return "", errors.New("demo: concord roster printed no phrase")
}

// everyParty runs one command at all parties at once.
func (d *demo) everyParty(ctx context.Context, args func(i int) []string) error {
	var g errGroup
	for i := range d.Parties {
		g.Go(func() error {
			_, err := d.concord(ctx, i, args(i)...)
			return err
		})
	}
	return g.Wait()
}

// untilDone repeats a command at all parties until none has to wait for the
// others.
func (d *demo) untilDone(ctx context.Context, args ...string) error {
	var g errGroup
	for i := range d.Parties {
		g.Go(func() error {
			const pause, patience = 20 * time.Millisecond, time.Minute
			for begun := time.Now(); ; {
				_, err := d.concord(ctx, i, args...)
				var waiting *wire.Waiting
				if !errors.As(err, &waiting) {
					return err
				}
				if time.Since(begun) > patience {
					return fmt.Errorf("demo: %s at %s still waits after %v", strings.Join(args, " "), hospitals[i], patience)
				}
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	return g.Wait()
}

// concordd runs one command of the analyst's program.
func (d *demo) concordd(ctx context.Context, args ...string) (string, error) {
	return d.command("analyst", "concordd", args, func(stdout, stderr io.Writer) int {
		return concordd.Run(ctx, append([]string{"--dir", d.analyst()}, args...), strings.NewReader(""), stdout, stderr)
	})
}

// analyst is the analyst's folder.
func (d *demo) analyst() string { return filepath.Join(d.Dir, "analyst") }

// concord runs one command of a party's program.
func (d *demo) concord(ctx context.Context, i int, args ...string) (string, error) {
	return d.command(hospitals[i], "concord", args, func(stdout, stderr io.Writer) int {
		return concord.Run(ctx, append([]string{"--dir", filepath.Join(d.party(i), "concord-site")}, args...), strings.NewReader(""), stdout, stderr)
	})
}

// printing keeps the lines of commands that run at once apart.
var printing sync.Mutex

// command runs one command of a program and returns what it printed. Exit
// status 3 comes back as wire.Waiting.
func (d *demo) command(who, program string, args []string, run func(stdout, stderr io.Writer) int) (string, error) {
	var stdout, stderr bytes.Buffer
	status := run(&stdout, &stderr)
	printing.Lock()
	defer printing.Unlock()
	for _, found := range sentBytes.FindAllStringSubmatch(stdout.String(), -1) {
		n, err := strconv.ParseInt(found[1], 10, 64)
		if err != nil {
			return "", fmt.Errorf("demo: %s sent %w", who, err)
		}
		d.sent[who] += n
	}
	if d.Verbose {
		fmt.Fprintf(d.out, "  %s$ %s %s\n", who, program, shown(args))
		for line := range strings.Lines(stdout.String() + stderr.String()) {
			fmt.Fprintf(d.out, "    %s", line)
		}
	}
	switch status {
	case cli.StatusDone:
		d.steps = append(d.steps, report.Step{Who: who, What: program + " " + shown(args)})
		return stdout.String(), nil
	case cli.StatusWaiting:
		return "", &wire.Waiting{For: strings.TrimPrefix(strings.TrimSpace(stderr.String()), "concord: waiting for ")}
	}
	return "", fmt.Errorf("demo: %s: %s %s ended with status %d:\n%s", who, program, shown(args), status, strings.TrimSpace(stderr.String()))
}

// shown is a command line without the one-time secret of an invite.
func shown(args []string) string {
	words := make([]string, len(args))
	for i, a := range args {
		switch {
		case strings.HasPrefix(a, "concord-invite/"):
			a = "INVITE"
		case strings.Contains(a, " "):
			a = fmt.Sprintf("%q", a)
		case filepath.IsAbs(a) || strings.ContainsRune(a, filepath.Separator):
			a = filepath.Base(a)
		}
		words[i] = a
	}
	return strings.Join(words, " ")
}

// errGroup runs functions at once and joins their errors.
type errGroup struct {
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

// Go runs f beside the others.
func (g *errGroup) Go(f func() error) {
	g.wg.Go(func() {
		if err := f(); err != nil {
			g.mu.Lock()
			g.errs = append(g.errs, err)
			g.mu.Unlock()
		}
	})
}

// Wait waits for all and joins their errors.
func (g *errGroup) Wait() error {
	g.wg.Wait()
	return errors.Join(g.errs...)
}
