package reviewpage_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"concord/bundle"
	"concord/contract"
	"concord/identity"
	"concord/internal/reviewpage"
	"concord/member"
	"concord/party"
	"concord/wire"
)

const yaml = `
name: Readmission
PROTOCOL
parties: 2
features:
  - {name: age, range: [18, 100]}
  - {name: stay_days, range: [0, 60]}
  - {name: visits, range: [0, 20]}
label: {name: readmitted, levels: ["no", "yes"], positive: "yes"}
subject: patient
floors: {rows: 100, eps: 0.02}
`

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newIdentity(t *testing.T, role identity.Role, name string, approver ed25519.PublicKey) *identity.Identity {
	t.Helper()
	id, err := identity.New(role, name, approver)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sample is a page of a contribution that nobody has approved yet, and the identities
// of site and analyst.
func sample(t *testing.T, protocol string, approver ed25519.PublicKey) (reviewpage.Page, *identity.Identity) {
	t.Helper()
	rest := map[string]string{"dc": "basis: {dim: 2}", "nri": "protocol: nri\nbasis: {kind: pca-perturbed, dim: 2}\nmodel: {kind: logistic}"}[protocol]
	c, err := contract.ParseYAML([]byte(strings.Replace(yaml, "PROTOCOL", rest, 1)))
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	site, analyst := newIdentity(t, identity.RoleParty, "North clinic", approver), newIdentity(t, identity.RoleAnalyst, "Study office", nil)
	other := newIdentity(t, identity.RoleParty, "East clinic", nil)
	roster, err := member.NewRoster(c, 1, []*identity.Statement{site.Statement, other.Statement, analyst.Statement})
	if err != nil {
		t.Fatal(err)
	}
	name := wire.HashOf(encoded)
	anchor := wire.HashOf([]byte("anchor"))
	m := &bundle.Manifest{
		Header: bundle.Header{Format: bundle.Format, Study: name, Epoch: roster.Epoch(name), Sender: site.Statement.Fingerprint(),
			Recipients: []wire.Hash{analyst.Statement.Fingerprint()}, Kind: bundle.KindContribution, Number: 1},
		Anchor: &anchor,
	}
	for i, part := range []bundle.Member{
		{Name: "A.npy", Bytes: 16128, Dtype: "<f8", Shape: []int{1000, 2}},
		{Name: "X.npy", Bytes: 2048, Dtype: "<f8", Shape: []int{120, 2}},
		{Name: "Y.npy", Bytes: 1088, Dtype: "<i8", Shape: []int{120}},
	} {
		part.SHA256 = wire.HashOf([]byte{byte(i)})
		if protocol == "nri" {
			inside := bundle.Inside{Bytes: part.Bytes, SHA256: part.SHA256, Dtype: part.Dtype, Shape: part.Shape}
			part = bundle.Member{Name: part.Name + ".age", Bytes: part.Bytes + 1900, SHA256: wire.HashOf([]byte{byte(i), 1}), Sealed: &inside}
		}
		m.Members = append(m.Members, part)
	}
	if _, err := bundle.DecodeManifest(m.Encode()); err != nil {
		t.Fatal(err)
	}
	return reviewpage.Page{
		Written: noon.Add(time.Hour), Contract: c, Roster: roster, Site: site.Statement, Manifest: m, Folder: "concord-site/contribution/leaves",
		Prepared: noon,
		Floors:   party.EffectiveFloors(c, &contract.Policy{PerClass: 30, Linkage: 0.05}),
		Report: party.Report{
			Rows: 120, People: 60, Features: 3, Dim: 2, Classes: []int{95, 25}, Rank: 3, Energy: 0.8125, Eps: 0.031,
			Exposed:       []party.Exposure{{Feature: "stay_days", Correlation: 0.973, Near: 0.325, Chance: 0.017}},
			Reconstructed: []party.FeatureRatio{{Feature: "stay_days", Ratio: 0.25}, {Feature: "age", Ratio: 0.5}, {Feature: "visits", Ratio: 1.125}},
			Linked:        0.125,
			Findings: []party.Finding{
				{Name: "eps-dr", Against: "the analyst together with any one party", Value: 0.031, Text: "the basis leaves out at least 0.031.", Warn: true},
				{Name: "collation", Against: "the analyst alone", Value: 0.973, Text: "stay_days follows one direction.", Warn: true},
				{Name: "linkage", Against: "the analyst together with any one party", Value: 0.125, Text: "12.5 % are nearest."},
			},
		},
	}, site
}

func render(t *testing.T, p reviewpage.Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	breaks = regexp.MustCompile(`</?(?:span|wbr|bdi|code|strong|time)\b[^>]*>`)
)

// text is what people read, with one space between words.
func text(page string) string {
	_, page, _ = strings.Cut(page, "</style>")
	page = tags.ReplaceAllString(breaks.ReplaceAllString(page, ""), " ")
	return strings.Join(strings.Fields(html.UnescapeString(page)), " ")
}

func has(t *testing.T, where string, fragments ...string) {
	t.Helper()
	for _, f := range fragments {
		if !strings.Contains(where, f) {
			t.Errorf("the page does not say %q", f)
		}
	}
}

func hasNot(t *testing.T, where string, fragments ...string) {
	t.Helper()
	for _, f := range fragments {
		if strings.Contains(where, f) {
			t.Errorf("the page says %q", f)
		}
	}
}

// TestPage: golden fragments under dc.
func TestPage(t *testing.T) {
	p, _ := sample(t, "dc", nil)
	page := render(t, p)
	hash := p.Manifest.Hash().String()
	said := text(page)
	has(t, said,
		"review before anything leaves", "The contribution of North clinic. Page written 1 March 2026, 13:00 UTC",
		"State prepared nothing has left", "3 files 19,264 bytes", "120 rows of 60 people, 3 features, in 2 columns", "2 warnings among 3 findings",
		"Prepared 1 March 2026, 12:00 UTC", "Approved not yet", "Sent no",
		"concord approve "+hash[:12]+" The digits are the first twelve",
		"Study office analyst "+p.Manifest.Recipients[0].String(),
		"X.npyrows through the secret basis, in random order 120 × 2 <f8 2,048 "+p.Manifest.Members[1].SHA256.String(),
		"Y.npyeach row's label, as it is 120 <i8 1,088 "+p.Manifest.Members[2].SHA256.String(),
		"All files 19,264", "Manifest "+hash,
		"rows 120 at least 100 the contract kept",
		"different people, column patient 60 at least 10 the contract kept",
		`rows of class "no" 95 at least 30 this site kept`,
		`rows of class "yes" 25 at least 30 this site ! not kept`,
		"(eps) 0.031 at least 0.02 the contract kept",
		"largest correlation of a feature with a direction 0.973 – nobody no floor",
		"nearest to their own person 12.5 % at most 5 % this site ! not kept",
		"no 95 79.2 % yes 25 20.8 %",
		"keeps 81.2 % of the rows' variation (rank 3)",
		"Against the analyst together with any one party ! Warning the basis leaves out at least 0.031. eps-dr 12.5 % are nearest. linkage Against the analyst alone ! Warning stay_days",
		"Comes back stay_days 0.250 age 0.500 visits 1.125",
		"stay_days 0.973 32.5 % 1.7 %",
		"up to what a basis of 2 columns leaves out of 3 features. So can whoever knows 3 of your rows",
		"The protocol is dc: the basis stays", "numpy.load opens them",
	)
	hasNot(t, said, "inside:", "The protocol is nri", "--key", "concord send", "differential privacy", "–0", "NaN")
	has(t, page,
		`<span class="first">`+hash[8:12]+`</span><wbr/><span>`+hash[12:16]+`</span>`,
		// Bars: what comes back of stay_days, of visits, and its correlation.
		`d="M0 0h75v8H0z"`, `d="M0 0h0v8H0z"`, `d="M0 0h97.3v8H0z"`)
	if n := strings.Count(page, `<strong class="warning">! Warning</strong>`); n != 3 { // two and the lead
		t.Errorf("%d warnings are marked, want 3", n)
	}
}

// TestNRI: what is inside sealed files, and what nri means and does not.
func TestNRI(t *testing.T) {
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := sample(t, "nri", public)
	said := text(render(t, p))
	x := p.Manifest.Members[1]
	has(t, said,
		"X.npy.agesealed to the analyst; nobody here can read it – – 3,948 "+x.SHA256.String()+
			" inside: X.npyrows through the secret basis, in random order 120 × 2 <f8 2,048 "+x.Sealed.SHA256.String(),
		"The protocol is nri: this site keeps neither the basis nor the order of the rows", "it changes nothing for the analyst, with or without a party",
		"nobody here can open them; they are in concord-site/contribution/leaves",
		"concord approve "+p.Manifest.Hash().Short()+" --key FILE", "FILE is the approver's private key",
		"Approver's key "+identity.ApproverText(public),
		"nri, hard answers come back",
	)
	hasNot(t, said, "numpy.load", "The protocol is dc")
}

// TestBefore: what left of the same rows before stands on the page.
func TestBefore(t *testing.T) {
	p, _ := sample(t, "dc", nil)
	hasNot(t, text(render(t, p)), "left before")
	p.Before = []string{"2026-01-02  Earlier <study>, 3 directions", "several projections together show more"}
	has(t, text(render(t, p)), "Of the same file there left before: 2026-01-02 Earlier <study>, 3 directions several projections together show more")
}

// TestStates: approved by a person or a policy, sealed, sent.
func TestStates(t *testing.T) {
	p, site := sample(t, "dc", nil)
	approve := func(policy string) *bundle.Approval {
		a, err := bundle.Approve(p.Manifest.Encode(), site.SigningKey(), policy, noon.Add(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	p.Approval = approve(bundle.PolicyPerson)
	said := text(render(t, p))
	has(t, said, "State approved nothing has left", "Approved 1 March 2026, 12:01 UTC, by a person, with this site's key", "To send it: concord send")
	hasNot(t, said, "concord approve")
	p.Approval = approve("clinics-2026")
	has(t, text(render(t, p)), "by a program under policy clinics-2026, without a person")

	p.Sealed = true
	said = text(render(t, p))
	has(t, said, "State sealed may have reached the server", "Sent begun; the analyst has not acknowledged it")
	hasNot(t, said, "nothing has left")

	p.Receipt = &member.Receipt{Manifest: p.Manifest.Hash(), Received: noon.Add(2 * time.Minute)}
	said = text(render(t, p))
	has(t, said, "State sent has left this site", "acknowledged it on 1 March 2026, 12:02 UTC", "What exactly left")
	hasNot(t, said, "nothing has left", "would leave", "concord send", "concord approve")
	p.Approval = nil
	has(t, text(render(t, p)), "the approval is not in this folder any more")
}

// TestRefuses: parts that contradict each other make no page.
func TestRefuses(t *testing.T) {
	good, site := sample(t, "dc", nil)
	other, _ := sample(t, "dc", nil)
	for name, spoil := range map[string]func(*reviewpage.Page){
		"the approval is for manifest": func(p *reviewpage.Page) {
			a, err := bundle.Approve(other.Manifest.Encode(), site.SigningKey(), bundle.PolicyPerson, noon)
			if err != nil {
				t.Fatal(err)
			}
			p.Approval = a
		},
		"the receipt is for manifest":      func(p *reviewpage.Page) { p.Receipt = &member.Receipt{} },
		"the manifest is of sender":        func(p *reviewpage.Page) { p.Site = other.Site },
		"the report counts 3 classes, the": func(p *reviewpage.Page) { p.Report.Classes = []int{1, 2, 3} },
	} {
		p := good
		spoil(&p)
		var b bytes.Buffer
		if err := p.HTML(&b); err == nil || !strings.Contains(err.Error(), name) || b.Len() > 0 {
			t.Errorf("%s: %v, %d bytes written", name, err, b.Len())
		}
	}
	full := errors.New("disk full")
	if err := good.HTML(failing{full}); !errors.Is(err, full) {
		t.Errorf("a failing writer gives %v", err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

// TestHostile: names that are markup, quotes or turn the direction of text stay text,
// and the page stays well-formed, without a script, an address or an event. Contract
// and statements refuse most of such names when they are decoded; the page does not
// rely on it.
func TestHostile(t *testing.T) {
	for _, name := range []string{
		`<script>alert(1)</script>`, `"><img src="http://evil.example/x" onerror=alert(1)>`, `'; </style><style>* { display: none }`,
		"</title><h1>sent", "{{.Contract}}", "--><!--", "javascript:alert(1)", "cl\u202einic", "nul\x00 \x1b[2J", "bad\xff", "\u2066", "a\nb", "& &lt;",
		strings.Repeat("long", 100),
	} {
		p, site := sample(t, "dc", nil)
		c, s := *p.Contract, *site.Statement
		c.Name, c.Label.Name, c.Subject, c.Label.Levels = name, name, name, []string{name, "yes"}
		s.Name = name
		p.Contract, p.Site, p.Folder = &c, &s, name
		p.Manifest.Sender = s.Fingerprint()
		office := *p.Roster.Analyst()
		office.Name = name
		p.Roster = &member.Roster{Number: 1, Members: []*identity.Statement{&office}}
		p.Manifest.Recipients = []wire.Hash{office.Fingerprint(), wire.HashOf(nil)}
		p.Manifest.Members[0].Dtype = name
		p.Report.Findings[0] = party.Finding{Name: name, Against: name, Text: name, Warn: true}
		p.Report.Exposed[0].Feature, p.Report.Reconstructed[0].Feature = name, name
		p.Report.Reconstructed[1].Ratio = math.NaN()
		page := render(t, p)
		for _, e := range parse(t, page) {
			if slices.Contains([]string{"script", "img", "link", "iframe", "object", "form", "base", "a", "image", "use"}, e.name) {
				t.Errorf("%q: the page has an element %s", name, e.name)
			}
			for key := range e.attr {
				if strings.HasPrefix(key, "on") || slices.Contains([]string{"href", "src", "style", "action", "srcset"}, key) {
					t.Errorf("%q: %s has an attribute %s", name, e.name, key)
				}
			}
		}
		if strings.ContainsAny(page, "\u202e\u2066\x00\x1b") || strings.Contains(page, "\xff") {
			t.Errorf("%q: a character that is not text is on the page", name)
		}
		if shown := strings.Count(text(page), "sent"); !strings.Contains(name, "sent") && shown != 0 {
			t.Errorf("%q: the page says sent", name)
		}
		has(t, text(page), "! unknown not in the roster "+wire.HashOf(nil).String())
		if readable := strings.Join(strings.Fields(name), " "); regexp.MustCompile(`^[[:print:]]+$`).MatchString(readable) {
			// As it is, once the tags of the page itself are gone.
			if n := strings.Count(html.UnescapeString(page), readable); n < 12 {
				t.Errorf("%q stands %d times on the page, want 12 or more", name, n)
			}
		}
	}
}

type element struct {
	name string
	attr map[string]string
}

// parse reads the page as XML, in which it is well-formed too.
func parse(t *testing.T, page string) []element {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	var all []element
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatalf("%v", err)
		}
		if start, ok := token.(xml.StartElement); ok {
			e := element{start.Name.Local, map[string]string{}}
			for _, a := range start.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			all = append(all, e)
		}
	}
}

// TestAccessible: one h1, headings without a gap, a caption and scoped headings in
// every table, sections that name their heading, a policy that lets nothing in.
func TestAccessible(t *testing.T) {
	p, _ := sample(t, "nri", nil)
	page := render(t, p)
	count := map[string]int{}
	ids, level, policy := map[string]bool{}, 0, ""
	all := parse(t, page)
	for _, e := range all {
		if id := e.attr["id"]; id != "" {
			if ids[id] {
				t.Errorf("the id %s stands twice", id)
			}
			ids[id] = true
		}
	}
	for _, e := range all {
		count[e.name]++
		switch {
		case e.name == "th" && e.attr["scope"] == "":
			t.Error("a heading of a table has no scope")
		case e.name == "section" && !ids[e.attr["aria-labelledby"]] && e.attr["aria-label"] == "":
			t.Errorf("a section has no heading: %v", e.attr)
		case e.name == "svg" && e.attr["aria-hidden"] != "true":
			t.Error("a bar is not hidden from who hears the figure beside it")
		case e.name == "meta" && e.attr["http-equiv"] == "Content-Security-Policy":
			policy = e.attr["content"]
		case regexp.MustCompile(`^h[1-6]$`).MatchString(e.name):
			now := int(e.name[1] - '0')
			if now > level+1 {
				t.Errorf("a heading %s follows h%d", e.name, level)
			}
			level = now
		}
	}
	if count["h1"] != 1 || count["main"] != 1 || count["table"] != 6 || count["caption"] != count["table"] {
		t.Errorf("elements: %v", count)
	}
	has(t, policy, "default-src 'none'", "style-src 'sha256-")
	hasNot(t, policy, "unsafe")
	if strings.Contains(page, "://") {
		t.Error("the page has an address")
	}
}

// TestMarked: a page is told from other files, however short.
func TestMarked(t *testing.T) {
	p, _ := sample(t, "dc", nil)
	page := render(t, p)
	first, rest, _ := strings.Cut(page, "\n")
	if first != "<!-- concord review page, format 1 -->" || !strings.HasPrefix(rest, "<!DOCTYPE html>\n") {
		t.Errorf("begins with %.100q", page)
	}
	for content, want := range map[string]bool{page: true, rest: false, "": false, "<!-- concord": false, "age,visits\n1,2\n": false} {
		if got, err := reviewpage.Marked(strings.NewReader(content)); got != want || err != nil {
			t.Errorf("%.20q: %v, %v", content, got, err)
		}
	}
}

// TestLong: the best 20 of many features are named, and the others counted.
func TestLong(t *testing.T) {
	p, _ := sample(t, "dc", nil)
	for range 1240 {
		p.Report.Reconstructed = append(p.Report.Reconstructed, party.FeatureRatio{Feature: "another", Ratio: 1.5})
	}
	said := text(render(t, p))
	has(t, said, "1,223 features with larger errors left out")
	if n := strings.Count(said, "another 1.500"); n != 17 {
		t.Errorf("%d of the others are shown, want 17", n)
	}
}
