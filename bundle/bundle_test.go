package bundle_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"concord/bundle"
	"concord/npy"
	"concord/wire"
)

func TestRoundTrip(t *testing.T) {
	to := []who{bob(), carol(), alice()}
	d := draft(to...)
	b := sealed(t, d, to...)
	for _, r := range to {
		got, err := open(b, expect(bundle.KindContribution, r), r)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		checkContents(t, got)
		if got.Envelope == nil || got.Envelope.Manifest != got.Manifest.Hash() {
			t.Errorf("%s: the envelope is %+v", r.name, got.Envelope)
		}
		var clear bytes.Buffer
		if n, err := got.WriteTo(&clear); err != nil || n != int64(clear.Len()) {
			t.Fatalf("WriteTo: %d, %v", n, err)
		}
		again, err := openUnsealed(clear.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		checkContents(t, again)
		if err := again.Verify(alice().public(), nil); err != nil {
			t.Error(err)
		}
		refused(t, "another sender", again.Verify(bob().public(), alice().public()), bundle.ErrSignature, "the manifest signature does not verify")
		refused(t, "another approver", again.Verify(alice().public(), bob().public()), bundle.ErrApproval, "by another key")
	}
}

// checkContents compares a reader with draft.
func checkContents(t *testing.T, r *bundle.Reader) {
	t.Helper()
	x, err := r.Matrix("X", npy.Limits{Rows: 3, Cols: 2})
	if err != nil || !mat.Equal(x, mat.NewDense(3, 2, slices.Clone(xValues))) {
		t.Errorf("X = %v, %v", x, err)
	}
	y, err := r.Ints("Y", npy.Limits{})
	if err != nil || !slices.Equal(y, []int64{0, 1, 1}) {
		t.Errorf("Y = %v, %v", y, err)
	}
	report, err := r.Bytes("report.txt", 11)
	if err != nil || string(report) != "three rows\n" {
		t.Errorf("report.txt = %q, %v", report, err)
	}
	in, err := r.Member("report.txt")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(in); err != nil || !bytes.Equal(b, report) {
		t.Errorf("report.txt = %q, %v", b, err)
	}
	m := r.Manifest
	if m.Sender != alice().print() || m.Kind != bundle.KindContribution || m.Round != 1 || m.Number != 1 || m.Anchor == nil || *m.Anchor != anchorHash {
		t.Errorf("the manifest is %s", m.Encode())
	}
	a := r.Approval
	if a == nil {
		t.Fatal("there is no approval")
	}
	if a.Policy != bundle.PolicyPerson || !a.Time.Equal(time.Date(2026, 3, 4, 4, 6, 7, 0, time.UTC)) || !bytes.Equal(a.Approver, alice().public()) {
		t.Errorf("the approval is %s", a.Encode())
	}
}

func TestReaderRefuses(t *testing.T) {
	d := draft(bob())
	r, err := open(sealed(t, d, bob()), expect(bundle.KindContribution, bob()), bob())
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Matrix("Z", npy.Limits{})
	refused(t, "no member", err, bundle.ErrDamaged, `there is no member "Z.npy"`)
	_, err = r.Member("manifest.json")
	refused(t, "no member", err, bundle.ErrDamaged, `there is no member "manifest.json"`)
	_, err = r.Matrix("X", npy.Limits{Rows: 2})
	refused(t, "limits", err, bundle.ErrDamaged, `member "X.npy": npy: shape (3, 2): 3 rows, at most 2 are read`)
	_, err = r.Ints("X", npy.Limits{})
	refused(t, "dtype", err, bundle.ErrDamaged, `member "X.npy": npy: dtype "<f8" holds floats`)
	_, err = r.Bytes("report.txt", 10)
	refused(t, "limit", err, bundle.ErrDamaged, `member "report.txt" has 11 bytes, at most 10 are read`)
}

func TestManifest(t *testing.T) {
	d := draft(carol(), bob())
	m := describe(t, d)
	x, ok := m.Member("X.npy")
	want := bundle.Member{Name: "X.npy", Bytes: npy.Size(npy.Float64, 3, 2), Dtype: "<f8", Shape: []int{3, 2}, SHA256: x.SHA256}
	if diff := cmp.Diff(want, x); !ok || diff != "" {
		t.Error(diff)
	}
	if report, ok := m.Member("report.txt"); !ok || report.SHA256 != wire.HashOf([]byte("three rows\n")) || report.Dtype != "" || report.Shape != nil {
		t.Errorf("report.txt is %+v", report)
	}
	if !slices.IsSortedFunc(m.Recipients, func(a, b wire.Hash) int { return bytes.Compare(a[:], b[:]) }) {
		t.Error("the recipients are not sorted")
	}
	if d.Recipients[0] != carol().print() {
		t.Error("Describe changed the draft")
	}
	again, err := bundle.DecodeManifest(m.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, again); diff != "" {
		t.Error(diff)
	}
	if !bytes.Equal(describe(t, d).Encode(), m.Encode()) || m.Hash() != wire.HashOf(m.Encode()) {
		t.Error("the manifest depends on more than the draft")
	}
}

func TestDescribeRefuses(t *testing.T) {
	many := make([]bundle.Source, bundle.MaxMembers+1)
	for i := range many {
		many[i] = bundle.FromBytes(fmt.Sprint("m", i), nil)
	}
	lie := bundle.FromMatrix("X", mat.NewDense(3, 2, nil))[0]
	cut := bundle.Source{Name: "X.npy", Write: func(w io.Writer) error {
		var b bytes.Buffer
		if err := lie.Write(&b); err != nil {
			return err
		}
		_, err := w.Write(b.Bytes()[:b.Len()-1])
		return err
	}}
	for _, c := range []struct {
		name   string
		change func(*bundle.Draft)
		want   string
	}{
		{"no study", func(d *bundle.Draft) { d.Study = wire.Hash{} }, "manifest: study is not set"},
		{"no epoch", func(d *bundle.Draft) { d.Epoch = wire.Hash{} }, "manifest: epoch is not set"},
		{"no sender", func(d *bundle.Draft) { d.Sender = wire.Hash{} }, "manifest: sender is not set"},
		{"no recipients", func(d *bundle.Draft) { d.Recipients = nil }, "manifest: 0 recipients, must be 1 to 512"},
		{"empty recipient", func(d *bundle.Draft) { d.Recipients[0] = wire.Hash{} }, "manifest: recipient 1 is not set"},
		{"recipient twice", func(d *bundle.Draft) { d.Recipients = append(d.Recipients, d.Recipients[0]) }, "manifest: recipient 2 is repeated"},
		{"kind", func(d *bundle.Draft) { d.Kind = "gift" }, `manifest: kind is "gift", must be setup, pool, contribution, admission or result`},
		{"round", func(d *bundle.Draft) { d.Round = -1 }, "manifest: round is -1, must be 0 to 1000000"},
		{"number", func(d *bundle.Draft) { d.Number = 0 }, "manifest: number is 0, must be 1 to 1000000"},
		{"no anchor", func(d *bundle.Draft) { d.Anchor = nil }, "manifest: a contribution must name its anchor"},
		{"empty anchor", func(d *bundle.Draft) { d.Anchor = new(wire.Hash) }, "manifest: anchor is not set"},
		{"no members", func(d *bundle.Draft) { d.Members = nil }, "manifest: 0 members, must be 1 to 4096"},
		{"many members", func(d *bundle.Draft) { d.Members = many }, "manifest: 4097 members, must be 1 to 4096"},
		{"same name", func(d *bundle.Draft) { d.Members[1].Name = "x.npy" }, `manifest: member "x.npy" is repeated`},
		{"no name", func(d *bundle.Draft) { d.Members[0].Name = "" }, "a member's name has 0 characters"},
		{"long name", func(d *bundle.Draft) { d.Members[0].Name = strings.Repeat("x", 65) }, "a member's name has 65 characters"},
		{"path", func(d *bundle.Draft) { d.Members[0].Name = "../X.npy" }, `member "../X.npy": names are made of`},
		{"points", func(d *bundle.Draft) { d.Members[0].Name = ".." }, `member "..": a name must not begin with .`},
		{"option", func(d *bundle.Draft) { d.Members[0].Name = "-rf" }, `member "-rf": a name must not begin with . or -`},
		{"umlaut", func(d *bundle.Draft) { d.Members[0].Name = "Ä.npy" }, "names are made of"},
		{"NUL", func(d *bundle.Draft) { d.Members[0].Name = "X\x00.npy" }, "names are made of"},
		{"reserved", func(d *bundle.Draft) { d.Members[0].Name = "Manifest.JSON" }, `member "Manifest.JSON": the name is reserved`},
		{"not an array", func(d *bundle.Draft) { d.Members[2].Name = "report.npy" }, `member "report.npy": npy: not a NumPy array file`},
		{"cut array", func(d *bundle.Draft) { d.Members[0] = cut }, `member "X.npy": its NumPy header tells of 176 bytes, it has 175`},
	} {
		d := draft(bob())
		c.change(&d)
		_, err := bundle.Describe(d)
		refused(t, c.name, err, bundle.ErrDamaged, c.want)
	}
	d := draft(bob())
	d.Members = append(d.Members, bundle.FromFile("gone.txt", filepath.Join(t.TempDir(), "gone.txt")))
	if _, err := bundle.Describe(d); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), `member "gone.txt"`) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestApproveRefuses(t *testing.T) {
	m := describe(t, draft(bob()))
	for _, c := range []struct {
		policy string
		at     time.Time
		want   string
	}{
		{"", someTime, "approval: policy has 0 characters, must have 1 to 64"},
		{"Nightly Run", someTime, `approval: policy "Nightly Run": names are made of small letters`},
		{"person", time.Time{}, "approval: the year is 1, must be 2000 to 9999"},
		{"person", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "approval: the year is 10000, must be 2000 to 9999"},
	} {
		_, err := bundle.Approve(m.Encode(), alice().key, c.policy, c.at)
		refused(t, c.policy, err, bundle.ErrDamaged, c.want)
	}
	_, err := bundle.Approve([]byte("{}"), alice().key, bundle.PolicyPerson, someTime)
	refused(t, "no manifest", err, bundle.ErrDamaged, "manifest: ")
}

// TestSealRefuses also checks that nothing is written before all is checked.
func TestSealRefuses(t *testing.T) {
	x25519, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	good := recipients([]who{bob()})
	for _, c := range []struct {
		name   string
		change func(*bundle.Sealing)
		to     []age.Recipient
		kind   error
		want   string
	}{
		{"other manifest approved", func(s *bundle.Sealing) { s.Manifest.Number = 2 }, good, bundle.ErrApproval, "the approval is for manifest"},
		{"no approval", func(s *bundle.Sealing) { s.Approval = nil }, good, bundle.ErrApproval, "has no approval"},
		{"other approver", func(s *bundle.Sealing) { s.Approval = approve(t, s.Manifest, mallory().key) }, good, bundle.ErrApproval, "the approval is by another key than the approver's"},
		{"an approver is asked for", func(s *bundle.Sealing) { s.Approver = carol().public() }, good, bundle.ErrApproval, "the approval is by another key than the approver's"},
		{"forged approval", func(s *bundle.Sealing) { s.Approval.Policy = "nightly" }, good, bundle.ErrApproval, "the approval signature does not verify"},
		{"a source is missing", func(s *bundle.Sealing) { s.Sources = s.Sources[:2] }, good, bundle.ErrChanged, "2 sources, the manifest has 3 members"},
		{"other order", func(s *bundle.Sealing) { s.Sources[0], s.Sources[1] = s.Sources[1], s.Sources[0] }, good, bundle.ErrChanged, `source 1 is "Y.npy", the manifest has "X.npy" there`},
		{"other content", func(s *bundle.Sealing) { s.Sources[2] = bundle.FromBytes("report.txt", []byte("three cows\n")) }, good, bundle.ErrChanged, `member "report.txt" has changed: 11 bytes with SHA-256`},
		{"longer", func(s *bundle.Sealing) { s.Sources[2] = bundle.FromBytes("report.txt", make([]byte, 12)) }, good, bundle.ErrChanged, `member "report.txt" has changed: more than 11 bytes`},
		{"shorter", func(s *bundle.Sealing) { s.Sources[0] = bundle.FromMatrix("X", mat.NewDense(2, 2, nil))[0] }, good, bundle.ErrChanged, `member "X.npy" has changed: 160 bytes`},
		{"no recipients", func(*bundle.Sealing) {}, nil, nil, "bundle: 0 age recipients for the manifest's 1 recipients"},
		{"classic recipient", func(*bundle.Sealing) {}, []age.Recipient{x25519.Recipient()}, nil, "bundle: age recipient 1 is a *age.X25519Recipient, must be hybrid (post-quantum)"},
	} {
		s := sealing(t, draft(bob()))
		c.change(&s)
		f := new(file)
		_, err := bundle.Seal(f, s, alice().key, c.to...)
		if c.kind != nil {
			refused(t, c.name, err, c.kind, c.want)
		} else if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		if len(f.b) > 0 {
			t.Errorf("%s: %d bytes were written", c.name, len(f.b))
		}
	}
	s := sealing(t, draft(bob(), carol()))
	if _, err := bundle.Seal(new(file), s, alice().key, bob().recipient(), bob().recipient()); err == nil || err.Error() != "bundle: age recipient 2 is repeated" {
		t.Errorf("the same key for two recipients: %v", err)
	}
}

// TestSourceChangesWhileSealing: the second reading is checked as well.
func TestSourceChangesWhileSealing(t *testing.T) {
	calls := 0
	d := draft(bob())
	d.Members[2].Write = func(w io.Writer) error {
		calls++
		text := "three rows\n"
		if calls == 3 {
			text = "three cows\n"
		}
		_, err := io.WriteString(w, text)
		return err
	}
	f := new(file)
	_, err := bundle.Seal(f, sealing(t, d), alice().key, bob().recipient())
	refused(t, "third reading", err, bundle.ErrChanged, `member "report.txt" has changed`)
	if _, err := open(f.b, expect(bundle.KindContribution, bob()), bob()); err == nil {
		t.Error("what is left of it can be opened")
	}
}

func TestSeparateApprover(t *testing.T) {
	d := draft(bob())
	s := sealing(t, d)
	s.Approval, s.Approver = approve(t, s.Manifest, carol().key), carol().public()
	f := new(file)
	if _, err := bundle.Seal(f, s, alice().key, bob().recipient()); err != nil {
		t.Fatal(err)
	}
	want := expect(bundle.KindContribution, bob())
	_, err := open(f.b, want, bob())
	refused(t, "the sender's own approval is expected", err, bundle.ErrApproval, "by another key")
	want.Approver = carol().public()
	if _, err := open(f.b, want, bob()); err != nil {
		t.Error(err)
	}
}

// TestSealAtAnOffset: Seal begins where the file stands.
func TestSealAtAnOffset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bundle")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before"); err != nil {
		t.Fatal(err)
	}
	e, err := bundle.Seal(f, sealing(t, draft(bob())), alice().key, bob().recipient())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("after"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.TrimSuffix(bytes.TrimPrefix(b, []byte("before")), []byte("after"))
	if want := len(e.Line()) + int(e.Size); len(b) != want {
		t.Errorf("the bundle has %d bytes, the envelope says %d", len(b), want)
	}
	r, err := open(b, expect(bundle.KindContribution, bob()), bob())
	if err != nil {
		t.Fatal(err)
	}
	checkContents(t, r)
}

func TestRowBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	big := mat.NewDense(23, 3, nil)
	for i := range 23 {
		for j := range 3 {
			big.Set(i, j, r.NormFloat64())
		}
	}
	seal := func(members ...bundle.Source) *bundle.Reader {
		d := draft(bob())
		d.Members = members
		r, err := open(sealed(t, d, bob()), expect(bundle.KindContribution, bob()), bob())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	blocks := bundle.FromMatrixBlocks("X", big, 5*3*8)
	if len(blocks) != 5 || blocks[4].Name != "X.0004.npy" {
		t.Fatalf("23 rows in blocks of 5 are %d blocks", len(blocks))
	}
	whole := bundle.FromMatrixBlocks("X", big, 23*3*8)
	if len(whole) != 1 || whole[0].Name != "X.npy" {
		t.Fatalf("23 rows in blocks of 23 are %d blocks", len(whole))
	}
	got := seal(blocks...)
	x, err := got.Matrix("X", npy.Limits{Rows: 23, Cols: 3})
	if err != nil || !mat.Equal(x, big) {
		t.Errorf("the blocks do not make up the matrix: %v", err)
	}
	_, err = got.Matrix("X", npy.Limits{Rows: 22})
	refused(t, "limits", err, bundle.ErrDamaged, `row blocks of "X": 23 rows, at most 22 are read`)
	_, err = seal(blocks[0], blocks[2]).Matrix("X", npy.Limits{})
	refused(t, "a block is missing", err, bundle.ErrDamaged, `row block "X.0002.npy" stands where "X.0001.npy" must`)
	_, err = seal(blocks[0], whole[0]).Matrix("X", npy.Limits{})
	refused(t, "whole and in blocks", err, bundle.ErrDamaged, `"X.npy" is there both whole and in row blocks`)
	other := bundle.FromMatrix("X.0001", mat.NewDense(1, 2, nil))[0]
	_, err = seal(blocks[0], other).Matrix("X", npy.Limits{})
	refused(t, "other width", err, bundle.ErrDamaged, `row block 1 of "X" is <f8 [1 2], the first is <f8 [5 3]`)
	if m, err := seal(bundle.FromMatrix("X", &mat.Dense{})...).Matrix("X", npy.Limits{}); err != nil || !m.IsEmpty() {
		t.Errorf("an empty matrix came back as %v, %v", m, err)
	}
}

// TestChangedAfterOpening: a member is hashed again when it is read.
func TestChangedAfterOpening(t *testing.T) {
	d := draft(bob())
	var b bytes.Buffer
	if err := bundle.WriteUnsealed(&b, describe(t, d), d.Members); err != nil {
		t.Fatal(err)
	}
	r, err := openUnsealed(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	refused(t, "a draft", r.Verify(alice().public(), nil), bundle.ErrApproval, "a draft without signature and approval")
	if r.Approval != nil || r.Envelope != nil {
		t.Error("a draft has an approval or an envelope")
	}
	at := bytes.Index(b.Bytes(), []byte("three rows"))
	b.Bytes()[at]++
	_, err = r.Bytes("report.txt", 100)
	refused(t, "changed", err, bundle.ErrDamaged, `member "report.txt" has changed since the bundle was opened`)
	afterX := bytes.Index(b.Bytes(), []byte("\x05\x00\x00\x00Y.npy")) - 26 // its local header
	b.Bytes()[afterX-1]++
	_, err = r.Matrix("X", npy.Limits{})
	refused(t, "changed", err, bundle.ErrDamaged, `member "X.npy" has changed since the bundle was opened`)
}

// TestNamesLikeTheReserved: a draft's first member may begin with a reserved
// name.
func TestNamesLikeTheReserved(t *testing.T) {
	d := draft(bob())
	d.Members = []bundle.Source{bundle.FromBytes("manifest.sig.txt", []byte("x")), bundle.FromBytes("approval.json.old", nil)}
	var b bytes.Buffer
	if err := bundle.WriteUnsealed(&b, describe(t, d), d.Members); err != nil {
		t.Fatal(err)
	}
	r, err := openUnsealed(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if x, err := r.Bytes("manifest.sig.txt", 1); err != nil || string(x) != "x" {
		t.Errorf("manifest.sig.txt = %q, %v", x, err)
	}
	if _, err := open(sealed(t, d, bob()), expect(bundle.KindContribution, bob()), bob()); err != nil {
		t.Error(err)
	}
}

func TestOpenWantsAllExpectations(t *testing.T) {
	b := sealed(t, draft(bob()), bob())
	for i, change := range []func(*bundle.Expect){
		func(e *bundle.Expect) { e.Study = wire.Hash{} },
		func(e *bundle.Expect) { e.Epoch = wire.Hash{} },
		func(e *bundle.Expect) { e.Sender = wire.Hash{} },
		func(e *bundle.Expect) { e.SenderKey = nil },
		func(e *bundle.Expect) { e.Recipient = wire.Hash{} },
		func(e *bundle.Expect) { e.Kind = "" },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("case %d: Open checked nothing and did not say so", i)
				}
			}()
			want := expect(bundle.KindContribution, bob())
			change(&want)
			open(b, want, bob())
		}()
	}
}
