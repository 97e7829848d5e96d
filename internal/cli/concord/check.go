package concord

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"concord/basis"
	"concord/contract"
	"concord/internal/checkpage"
	"concord/internal/cli"
	"concord/internal/durable"
	"concord/party"
	"concord/secret"
	"concord/table"
	"concord/table/profile"
	"concord/wire"
)

// checkFlags are those of concord check beside dataFlags.
type checkFlags struct {
	asJSON  bool
	html    string
	figures string
	flag    bool
	view    string
}

func (p *program) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check DATA",
		Short: "Compare a file with the contract; nothing is prepared",
		Long: `Reads the file once and says all that is wrong with it, with cures: columns, cells by
line and column, labels, people, floors; and what to think about: columns that seem to
be in another unit than the contract's, rows that occur twice, columns that are mostly
empty. Where the parties have pooled figures, each column is compared with the same
column at the other sites together; the others' figures are computed here, and nothing
leaves; where none stands out, a line says so.

--html writes a page to read or print, --json all figures for programs. Both hold the
smallest and largest values of columns: they stay at the site. --flag prints what to
tell the other sites where a unit seems to differ; it names the feature and no figure.

Exit status: 0 the file fits the contract, 1 it does not.`,
		Args: cobra.ExactArgs(1),
	}
	data := addDataFlags(cmd)
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&f.html, "html", "", "write the report as an HTML file")
	cmd.Flags().BoolVar(&f.flag, "flag", false, "print what to tell the other sites of units that seem to differ")
	cmd.Flags().StringVar(&f.view, "view", "", viewFlag)
	cmd.Flags().StringVar(&f.figures, "figures", "", "pooled figures from a file, in place of those that this site has")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opt, err := data.options()
		if err != nil {
			return err
		}
		if f.asJSON && f.flag {
			return cli.Usagef("--flag prints sentences to pass on, and --json nothing but the report for programs; run concord check once with each")
		}
		if cmd.Flags().Changed("html") && f.html == "" {
			return cli.Usagef("--html names a file; the page is not printed")
		}
		return p.check(args[0], opt, f)
	}
	return cmd
}

func (p *program) check(path string, to table.Options, f checkFlags) error {
	v, err := p.open()
	if err != nil {
		return err
	}
	shown := p.out
	if f.asJSON {
		p.out = p.err // nothing but JSON is printed
	}
	err = p.chooseView(v, path, to, f.view)
	p.out = shown
	if err != nil {
		return err
	}
	if f.html != "" {
		if err := v.mayWritePage(f.html, "check", checkpage.Marked); err != nil {
			return err
		}
	}
	floors, err := v.floors()
	if err != nil {
		return err
	}
	opt := profile.Options{Table: to}
	figures, err := v.figuresFor(f.figures)
	if err != nil {
		return err
	}
	if figures != nil {
		opt.Pooled = v.pooledFeatures(figures)
	}
	opt.Preparation, _ = v.contract.Preparation(figures) // nil while figures are to come
	some := newSample(v.contract)
	defer some.erase()
	opt.Visit = some.add
	r, err := profile.Survey(path, v.contract, opt)
	if err != nil {
		return err
	}
	v.checkFloors(r, floors)
	if figures != nil && f.figures == "" {
		v.checkPooledFile(r, path, to)
	}
	var directions []string
	if r.Fits {
		directions = some.directions(opt.Preparation)
	}
	if f.html != "" {
		page := checkpage.Page{Written: time.Now(), Report: r, Directions: directions}
		if err := durable.Write(f.html, draftPerm, func(w *os.File) error { return page.HTML(w) }); err != nil {
			return err
		}
	}
	if f.asJSON {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		p.printf("%s\n", b)
	} else {
		p.printCheck(r, directions)
		if figures != nil && r.Complete && r.Rows > 0 && !stands(r) {
			p.printf("compared with the pooled figures of the other sites: no column stands out\n")
		}
		if f.html != "" {
			p.printf("wrote %s: open it with a browser; it holds figures of this site's own rows, so keep it here\n", f.html)
		}
		if f.flag {
			p.printFlag(r)
		}
	}
	if !r.Fits {
		return wire.WithHint(fmt.Errorf("%s does not fit the contract: %s to mend", r.File, counted(len(r.Problems), "thing")), "mend the file and check it again; each ! above says how")
	}
	if !f.asJSON {
		p.printf("the file fits the contract\n")
	}
	return nil
}

// checkPooledFile remarks on a file that is not the one of which this site's figures were
// pooled: the other sites' figures are the pooled ones less those of this file. A database
// is not asked again, and what cannot be told is not said.
func (v *visit) checkPooledFile(r *profile.Report, path string, to table.Options) {
	before, ok, err := v.pooledSource()
	if err != nil || !ok || table.IsDatabase(path) || before.database() {
		return
	}
	if now, err := describeSource(path, v.contract, to); err == nil && now.SHA256 != before.SHA256 {
		r.Remark(profile.Finding{Kind: "file", Text: "this is not the file of which this site's figures were pooled, or it is read in another way",
			Cure: "what is said of the other sites holds for the file that was pooled alone: the pooled figures stay as they are"})
	}
}

// checkFloors adds the floors that the file does not reach.
func (v *visit) checkFloors(r *profile.Report, floors party.Floors) {
	if r.Rows == 0 {
		return // said already
	}
	err := party.CheckCounts(v.contract, party.Report{Rows: r.Rows, People: r.PeopleCount(), Classes: r.ClassCounts()}, floors)
	var below *party.FloorError
	if errors.As(err, &below) {
		for i, text := range below.Problems {
			f := profile.Finding{Kind: "floor", Text: text}
			if i == len(below.Problems)-1 {
				f.Cure = below.Hint()
			}
			r.Problem(f)
		}
	}
}

// figuresFor are the pooled figures to compare with: of a file, of this site, or nil.
func (v *visit) figuresFor(path string) (*contract.Figures, error) {
	if path == "" {
		return v.figuresHere()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f, err := contract.DecodeFigures(b, v.whole)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// pooledFeatures are the figures of the features that this site has.
func (v *visit) pooledFeatures(f *contract.Figures) []contract.FeatureFigures {
	var out []contract.FeatureFigures
	for j, feature := range v.whole.Features {
		if slices.Contains(v.contract.FeatureNames(), feature.Name) {
			out = append(out, f.Features[j])
		}
	}
	return out
}

// printCheck says what is wrong first, and then the figures that people ask for.
func (p *program) printCheck(r *profile.Report, directions []string) {
	people := ""
	if r.People != nil {
		people = " of " + countedPeople(r.People.Count)
	}
	source := ""
	if r.Source != "" {
		source = " (" + r.Source + ")"
	}
	if r.Rows == 0 && len(r.Problems) > 0 {
		p.printf("%s%s: no row could be read\n", r.File, source)
	} else {
		p.printf("%s: %s%s, %s%s\n", r.File, counted(r.Rows, "row"), people, counted(len(r.Features), "feature"), source)
	}
	if len(r.Problems) > 0 {
		p.printf("\nto mend:\n")
		p.printFound("!", r.Problems)
	}
	if len(r.Remarks) > 0 {
		p.printf("\nto think about:\n")
		p.printFound("-", r.Remarks)
	}
	if len(r.Problems)+len(r.Remarks) > 0 {
		p.printf("\n")
	}
	for _, c := range r.Label.Classes {
		if r.Rows > 0 {
			p.printf("  %s %s: %s\n", r.Label.Name, c.Level, counted(int(c.Rows), "row"))
		}
	}
	var missing []string
	for _, f := range r.Features {
		if f.Missing > 0 {
			rule := f.Rule
			if rule == contract.MissingRefuse {
				rule = "refused"
			}
			missing = append(missing, fmt.Sprintf("%s %d (%s)", f.Name, f.Missing, rule))
		}
	}
	if missing != nil {
		const most = 12
		more := ""
		if n := len(missing) - most; n > 0 {
			missing, more = missing[:most], fmt.Sprintf(" and %d more features", n)
		}
		p.printf("  %s\n", wrapped("missing cells: "+strings.Join(missing, ", ")+more, 4, 100))
	}
	for _, line := range directions {
		p.printf("%s\n", line)
	}
}

// stands says whether a column stands out against the other sites.
func stands(r *profile.Report) bool {
	return slices.ContainsFunc(r.Remarks, func(f profile.Finding) bool { return f.Kind == "unit" || f.Kind == "differs" || f.Kind == "level" })
}

func countedPeople(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// printFound prints findings, at most forty.
func (p *program) printFound(mark string, list []profile.Finding) {
	const most = 40
	for i, f := range list {
		if i == most {
			p.printf("%s and %d more; --json or --html has all\n", mark, len(list)-most)
			return
		}
		text := f.Text
		if f.Feature != "" {
			text = f.Feature + ": " + text
		}
		if lines := checkpage.Lines(f); lines != "" {
			text += " (" + lines + ")"
		}
		p.printf("%s\n", wrapped(wire.Printable(mark+" "+text), 2, 100))
		if f.Cure != "" {
			p.printf("    %s\n", wrapped(wire.Printable(f.Cure), 4, 96))
		}
	}
}

// printFlag prints what to tell the others.
func (p *program) printFlag(r *profile.Report) {
	n := 0
	for _, f := range r.Remarks {
		if f.Kind != "unit" && f.Kind != "differs" {
			continue
		}
		if n++; n == 1 {
			p.printf("\nto tell the other sites, by the way on which the phrase was compared:\n")
		}
		p.printf("  in the study %q, %s\n    by the exchange: concord pool flag %s\n", r.Study, flag{Format: 1, Feature: f.Feature, Says: flagUnit}.sentence(), quoted(f.Feature))
	}
	if n == 0 {
		p.printf("\nthere is nothing to tell the other sites: no unit seems to differ\n")
	}
}

// sampleNumbers is how many numbers of rows are kept to find the directions of variation.
const sampleNumbers = 1 << 20

// sample keeps every stride-th row, the stride doubling where they become too many.
type sample struct {
	contract *contract.Contract
	most     int // rows
	stride   int
	rows     [][]float64
}

func newSample(c *contract.Contract) *sample {
	return &sample{contract: c, most: max(2, sampleNumbers/max(1, c.M())), stride: 1}
}

func (s *sample) add(r *table.Row) {
	if (r.Number-1)%s.stride != 0 {
		return
	}
	if len(s.rows) == s.most {
		for i := range s.most / 2 {
			s.rows[i], s.rows[2*i] = s.rows[2*i], s.rows[i]
		}
		for _, row := range s.rows[s.most/2:] {
			clear(row)
		}
		s.rows = s.rows[:s.most/2]
		s.stride *= 2
		if (r.Number-1)%s.stride != 0 {
			return
		}
	}
	s.rows = append(s.rows, append([]float64(nil), r.X...))
}

// directions say how wide a basis keeps how much of the rows' variation.
func (s *sample) directions(prep *contract.Preparation) []string {
	if prep == nil || len(s.rows) < 2 {
		return nil
	}
	m := s.contract.M()
	x := mat.NewDense(len(s.rows), m, nil)
	for i, row := range s.rows {
		prep.Row(x.RawRowView(i), row)
	}
	z := secret.NewMatrix(x)
	defer z.Erase()
	var out []string
	about := ""
	if s.stride > 1 {
		about = fmt.Sprintf(" (of every %dth row)", s.stride)
	}
	dims, err := basis.DimVariances(z, party.Shares...)
	if err != nil {
		return nil
	}
	for k, l := range dims {
		out = append(out, fmt.Sprintf("a basis of %d (dim: %d, of %d columns) keeps less than %.0f %% of how the rows differ%s", l, l, m, 100*party.Shares[k], about))
	}
	return out
}

func (s *sample) erase() {
	for _, row := range s.rows {
		clear(row)
	}
}

// counted is "1 thing" or "2 things".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
