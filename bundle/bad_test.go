package bundle_test

import (
	"archive/zip"
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"concord/bundle"
	"concord/npy"
	"concord/wire"
)

var update = flag.Bool("update", false, "write testdata/good.bundle and testdata/bad_*.bundle anew")

// craft makes bundles without this package's writer, so that everything can be
// wrong and still be signed and sealed by a sender who means it.
type craft struct {
	t        testing.TB
	manifest *bundle.Manifest
	// Signed over whatever bytes follow, unless set before.
	manifestBytes, signature, approval []byte
	files                              []zipFile // after the three
	tamper                             func([]zipFile) []zipFile
	zipTamper                          func([]byte) []byte
	envelope                           func(*bundle.Envelope)
	envelopeKey, manifestKey           ed25519.PrivateKey
	line                               func([]byte) []byte // after signing
	whole                              func([]byte) []byte
	to                                 who
}

type zipFile struct {
	zip.FileHeader
	data []byte
	how  string // raw (the default), descriptor, deflate
}

func stored(name string, data []byte) zipFile {
	//lint:ignore SA1019 CreateRaw writes ModifiedDate and never looks at Modified
	return zipFile{FileHeader: zip.FileHeader{Name: name, Method: zip.Store, CreatorVersion: 20, ReaderVersion: 20, ModifiedDate: 0x21}, data: data}
}

func newCraft(t testing.TB) *craft {
	d := draft(bob())
	c := &craft{t: t, manifest: describe(t, d), envelopeKey: alice().key, manifestKey: alice().key, to: bob()}
	for _, s := range d.Members {
		var b bytes.Buffer
		if err := s.Write(&b); err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, stored(s.Name, b.Bytes()))
	}
	return c
}

func zipped(t testing.TB, files []zipFile) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := f.FileHeader
		var w interface{ Write([]byte) (int, error) }
		var err error
		switch f.how {
		case "descriptor", "deflate":
			w, err = z.CreateHeader(&h)
		default:
			h.CRC32 ^= crc32.ChecksumIEEE(f.data) // a test flips bits by setting it
			h.CompressedSize64, h.UncompressedSize64 = uint64(len(f.data)), uint64(len(f.data))
			w, err = z.CreateRaw(&h)
		}
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func canonical(t testing.TB, v any) []byte {
	b, err := wire.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func signedApproval(t testing.TB, a bundle.Approval, key ed25519.PrivateKey) []byte {
	a.Signature = nil
	a.Signature = wire.Sign(key, wire.SignApproval, canonical(t, a))
	return canonical(t, a)
}

// inner makes the zip.
func (c *craft) inner() []byte {
	if c.manifestBytes == nil {
		c.manifestBytes = canonical(c.t, c.manifest)
	}
	if c.signature == nil {
		c.signature = []byte(base64.StdEncoding.EncodeToString(wire.Sign(c.manifestKey, wire.SignManifest, c.manifestBytes)))
	}
	if c.approval == nil {
		c.approval = signedApproval(c.t, c.goodApproval(), alice().key)
	}
	files := append([]zipFile{stored("manifest.json", c.manifestBytes), stored("manifest.sig", c.signature), stored("approval.json", c.approval)}, c.files...)
	if c.tamper != nil {
		files = c.tamper(files)
	}
	b := zipped(c.t, files)
	if c.zipTamper != nil {
		b = c.zipTamper(b)
	}
	return b
}

func (c *craft) goodApproval() bundle.Approval {
	b := c.manifestBytes
	if b == nil {
		b = canonical(c.t, c.manifest)
	}
	return bundle.Approval{Format: 1, Manifest: wire.HashOf(b), Approver: alice().public(), Policy: "person", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// bytes makes the bundle.
func (c *craft) bytes() []byte {
	var payload bytes.Buffer
	w, err := age.Encrypt(&payload, c.to.recipient())
	if err == nil {
		_, err = w.Write(c.inner())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	e := &bundle.Envelope{Header: c.manifest.Header, Manifest: wire.HashOf(c.manifestBytes), Ciphertext: wire.HashOf(payload.Bytes()), Size: int64(payload.Len())}
	if c.envelope != nil {
		c.envelope(e)
	}
	e.Signature = wire.Sign(c.envelopeKey, wire.SignEnvelope, canonical(c.t, e))
	line := canonical(c.t, e)
	if c.line != nil {
		line = c.line(line)
	}
	all := append(append(line, '\n'), payload.Bytes()...)
	if c.whole != nil {
		all = c.whole(all)
	}
	return all
}

func replace(old, new string) func([]byte) []byte {
	return func(b []byte) []byte { return bytes.Replace(b, []byte(old), []byte(new), 1) }
}

// badBundles lists what must be refused, by whom for whose bundle: bob waits for
// alice's contribution.
var badBundles = []struct {
	name   string
	change func(*craft)
	kind   error
	text   string
}{
	// The line.
	{"line_version", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Format = 2 } }, bundle.ErrVersion, "envelope has format 2, this program reads format 1"},
	{"line_future", func(c *craft) { c.line = func([]byte) []byte { return []byte(`{"format":7,"novelty":true}`) } }, bundle.ErrVersion, "envelope has format 7, this program reads format 1"},
	{"line_altered", func(c *craft) { c.line = replace(`"number":1`, `"number":2`) }, bundle.ErrSignature, "the envelope signature does not verify"},
	{"line_resigned", func(c *craft) { c.envelopeKey = mallory().key }, bundle.ErrSignature, "the envelope signature does not verify"},
	{"line_manifest_signature", func(c *craft) { c.line = resign(c, wire.SignManifest) }, bundle.ErrSignature, "the envelope signature does not verify"},
	{"line_no_signature", func(c *craft) {
		c.line = func(b []byte) []byte { return append(b[:bytes.Index(b, []byte(`,"signature"`))], '}') }
	}, bundle.ErrDamaged, "envelope: the signature has 0 bytes, must have 64"},
	{"line_spaces", func(c *craft) { c.line = replace(`"round":`, `"round": `) }, bundle.ErrDamaged, "envelope: not the canonical encoding"},
	{"line_repeated_key", func(c *craft) { c.line = replace(`{"format":1,`, `{"format":1,"format":1,`) }, bundle.ErrDamaged, "envelope: not the canonical encoding"},
	{"line_unknown_key", func(c *craft) { c.line = replace(`{"format":1,`, `{"format":1,"more":1,`) }, bundle.ErrDamaged, `envelope: json: unknown field "more"`},
	{"line_other_case", func(c *craft) { c.line = replace(`"round"`, `"Round"`) }, bundle.ErrDamaged, "envelope: not the canonical encoding"},
	{"line_data_after", func(c *craft) { c.line = func(b []byte) []byte { return append(b, "{}"...) } }, bundle.ErrDamaged, "envelope: there is data after the JSON value"},
	{"line_long", func(c *craft) { c.line = func([]byte) []byte { return bytes.Repeat([]byte("{"), 70000) } }, bundle.ErrDamaged, "no envelope line in the first 65536 bytes"},
	{"line_number", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Number = 0 } }, bundle.ErrDamaged, "envelope: number is 0"},
	{"other_study", func(c *craft) { c.manifest.Study = anchorHash }, bundle.ErrMismatch, "it is for contract"},
	{"other_epoch", func(c *craft) { c.manifest.Epoch = anchorHash }, bundle.ErrMismatch, "it is for epoch"},
	{"other_kind", func(c *craft) { c.manifest.Kind = bundle.KindSetup }, bundle.ErrMismatch, "it is of kind setup, expected contribution"},
	{"other_sender", func(c *craft) {
		c.manifest.Sender = mallory().print()
		c.envelopeKey, c.manifestKey = mallory().key, mallory().key
	}, bundle.ErrMismatch, "it is from "},
	{"other_recipient", func(c *craft) { c.manifest.Recipients[0] = carol().print() }, bundle.ErrMismatch, "is not among its 1 recipients"},
	{"other_recipient_key", func(c *craft) { c.to = carol() }, bundle.ErrMismatch, "the payload is not sealed to this recipient's key"},
	{"size", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Size++ } }, bundle.ErrDamaged, "the envelope says"},
	{"ciphertext", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Ciphertext[0]++ } }, bundle.ErrDamaged, "the payload's SHA-256 is not the one that the envelope says"},

	{"cut", func(c *craft) { c.whole = func(b []byte) []byte { return b[:len(b)-100] } }, bundle.ErrDamaged, "bytes, the envelope says"},
	{"appended", func(c *craft) { c.whole = func(b []byte) []byte { return append(b, 0) } }, bundle.ErrDamaged, "the payload has more than the"},

	// Outside and inside.
	{"disagree_number", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Number = 2 } }, bundle.ErrDamaged, "outside and inside disagree about number"},
	{"disagree_round", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Round = 2 } }, bundle.ErrDamaged, "outside and inside disagree about round"},
	{"disagree_recipients", func(c *craft) {
		c.envelope = func(e *bundle.Envelope) {
			e.Recipients = describe(c.t, draft(bob(), carol())).Recipients
		}
	}, bundle.ErrDamaged, "outside and inside disagree about recipients"},
	{"disagree_study", func(c *craft) {
		c.manifest.Study = anchorHash
		c.envelope = func(e *bundle.Envelope) { e.Study = studyHash }
	}, bundle.ErrDamaged, "outside and inside disagree about study"},
	{"disagree_epoch", func(c *craft) {
		c.manifest.Epoch = anchorHash
		c.envelope = func(e *bundle.Envelope) { e.Epoch = epochHash }
	}, bundle.ErrDamaged, "outside and inside disagree about epoch"},
	{"disagree_sender", func(c *craft) {
		c.manifest.Sender = mallory().print()
		c.envelope = func(e *bundle.Envelope) { e.Sender = alice().print() }
	}, bundle.ErrDamaged, "outside and inside disagree about sender"},
	{"disagree_kind", func(c *craft) {
		c.manifest.Kind = bundle.KindResult
		c.envelope = func(e *bundle.Envelope) { e.Kind = bundle.KindContribution }
	}, bundle.ErrDamaged, "outside and inside disagree about kind"},
	{"disagree_manifest", func(c *craft) { c.envelope = func(e *bundle.Envelope) { e.Manifest[0]++ } }, bundle.ErrDamaged, "the envelope names manifest"},

	// Manifest, signature and approval.
	{"manifest_version", func(c *craft) {
		c.manifest.Format = 2
		c.envelope = func(e *bundle.Envelope) { e.Format = 1 }
	}, bundle.ErrVersion, "manifest has format 2, this program reads format 1"},
	{"manifest_spaces", func(c *craft) { c.manifestBytes = append(canonical(c.t, c.manifest), '\n') }, bundle.ErrDamaged, "manifest: not the canonical encoding"},
	{"manifest_repeated_key", func(c *craft) {
		c.manifestBytes = replace(`"dtype"`, `"bytes":176,"dtype"`)(canonical(c.t, c.manifest))
	}, bundle.ErrDamaged, "manifest: not the canonical encoding"},
	{"manifest_no_anchor", func(c *craft) { c.manifest.Anchor = nil }, bundle.ErrDamaged, "manifest: a contribution must name its anchor"},
	{"manifest_path", func(c *craft) {
		c.manifest.Members[2].Name = "../report.txt"
		c.files[2].Name = "../report.txt"
	}, bundle.ErrDamaged, `member "../report.txt": names are made of`},
	{"manifest_huge", func(c *craft) { c.manifest.Members[0].Bytes = 1 << 40 }, bundle.ErrDamaged, `manifest: member "X.npy" has 1099511627776 bytes, must be 0 to 2147483648`},
	{"manifest_long", func(c *craft) { c.manifest.Members[0].Bytes = 2 << 30 }, bundle.ErrDamaged, `zip: it ends within member "X.npy"`},
	{"manifest_negative", func(c *craft) { c.manifest.Members[0].Shape = []int{-3, -2} }, bundle.ErrDamaged, `manifest: member "X.npy" has a negative dimension`},
	{"manifest_shape", func(c *craft) { c.manifest.Members[0].Shape = []int{2, 3} }, bundle.ErrDamaged, `member "X.npy" is <f8 [3 2], the manifest says <f8 [2 3]`},
	{"manifest_dtype", func(c *craft) { c.manifest.Members[0].Dtype = "<i8" }, bundle.ErrDamaged, `member "X.npy" is <f8 [3 2], the manifest says <i8 [3 2]`},
	{"manifest_no_shape", func(c *craft) { c.manifest.Members[0].Shape = nil }, bundle.ErrDamaged, `manifest: member "X.npy": .npy members have dtype and shape, others have none`},
	{"manifest_member_twice", func(c *craft) {
		c.manifest.Members = append(c.manifest.Members, c.manifest.Members[0])
		c.files = append(c.files, c.files[0])
	}, bundle.ErrDamaged, `manifest: member "X.npy" is repeated`},
	{"manifest_not_an_array", func(c *craft) {
		c.files[0].data = []byte("no array")
		c.manifest.Members[0].Bytes, c.manifest.Members[0].SHA256 = 8, wire.HashOf([]byte("no array"))
	}, bundle.ErrDamaged, `member "X.npy": npy: not a NumPy array file`},
	{"manifest_signed_by_other", func(c *craft) { c.manifestKey = mallory().key }, bundle.ErrSignature, "the manifest signature does not verify"},
	{"manifest_no_base64", func(c *craft) { c.signature = bytes.Repeat([]byte("?"), 88) }, bundle.ErrDamaged, "manifest.sig: not 64 bytes in base64"},
	{"manifest_short_signature", func(c *craft) { c.signature = []byte("AAAA") }, bundle.ErrDamaged, "manifest.sig: not 64 bytes in base64"},
	{"manifest_loose_base64", func(c *craft) {
		good := base64.StdEncoding.EncodeToString(wire.Sign(alice().key, wire.SignManifest, canonical(c.t, c.manifest)))
		c.signature = []byte(good[:85] + string(next(good[85])) + "==")
	}, bundle.ErrDamaged, "manifest.sig: not 64 bytes in base64"},
	{"approval_missing", func(c *craft) {
		c.tamper = func(f []zipFile) []zipFile { return append(f[:1:1], f[3:]...) }
	}, bundle.ErrApproval, "a draft without signature and approval"},
	{"approval_alone", func(c *craft) {
		c.tamper = func(f []zipFile) []zipFile { return append(f[:1:1], f[2:]...) }
	}, bundle.ErrDamaged, `zip: another member stands where "X.npy" must`},
	{"approval_by_other", func(c *craft) {
		a := c.goodApproval()
		a.Approver = mallory().public()
		c.approval = signedApproval(c.t, a, mallory().key)
	}, bundle.ErrApproval, "the approval is by another key than the approver's"},
	{"approval_signed_by_other", func(c *craft) { c.approval = signedApproval(c.t, c.goodApproval(), mallory().key) }, bundle.ErrApproval, "the approval signature does not verify"},
	{"approval_of_other", func(c *craft) {
		a := c.goodApproval()
		a.Manifest[0]++
		c.approval = signedApproval(c.t, a, alice().key)
	}, bundle.ErrApproval, "the approval is for manifest"},
	{"approval_version", func(c *craft) {
		a := c.goodApproval()
		a.Format = 2
		c.approval = signedApproval(c.t, a, alice().key)
	}, bundle.ErrVersion, "approval has format 2, this program reads format 1"},
	{"approval_time_zone", func(c *craft) {
		a := c.goodApproval()
		a.Time = a.Time.In(time.FixedZone("", 3600))
		c.approval = signedApproval(c.t, a, alice().key)
	}, bundle.ErrDamaged, "approval: the time must be in UTC and whole seconds"},
	{"approval_key", func(c *craft) {
		a := c.goodApproval()
		a.Approver = a.Approver[1:]
		c.approval = signedApproval(c.t, a, alice().key)
	}, bundle.ErrDamaged, "approval: the approver's key has 31 bytes, must have 32"},
	{"approval_long", func(c *craft) { c.approval = bytes.Repeat([]byte(" "), 5000) }, bundle.ErrDamaged, `zip: header of "approval.json": wrong `},

	// The zip.
	{"zip_content", func(c *craft) { c.files[2].data = []byte("three cows\n") }, bundle.ErrDamaged, `member "report.txt": its SHA-256 is not the one in the manifest`},
	{"zip_longer", func(c *craft) { c.files[2].data = []byte("three rows\n\n") }, bundle.ErrDamaged, `zip: header of "report.txt": wrong checksum`},
	{"zip_missing", func(c *craft) { c.files = c.files[:2] }, bundle.ErrDamaged, `zip: member "report.txt" is missing`},
	{"zip_unlisted", func(c *craft) { c.files = append(c.files, stored("names.csv", []byte("Ann\nBob\n"))) }, bundle.ErrDamaged, "zip: there is a member that the manifest does not list"},
	{"zip_unlisted_first", func(c *craft) {
		c.tamper = func(f []zipFile) []zipFile { return append([]zipFile{stored("names.csv", nil)}, f...) }
	}, bundle.ErrDamaged, `zip: another member stands where "manifest.json" must`},
	{"zip_unlisted_between", func(c *craft) { c.files = append([]zipFile{stored("x.npy", nil)}, c.files...) }, bundle.ErrDamaged, `zip: another member stands where "X.npy" must`},
	{"zip_duplicate", func(c *craft) { c.files = append(c.files, c.files[0]) }, bundle.ErrDamaged, "zip: there is a member that the manifest does not list"},
	{"zip_duplicate_manifest", func(c *craft) {
		c.tamper = func(f []zipFile) []zipFile { return append(f, f[0]) }
	}, bundle.ErrDamaged, "zip: there is a member that the manifest does not list"},
	{"zip_order", func(c *craft) { c.files[0], c.files[1] = c.files[1], c.files[0] }, bundle.ErrDamaged, `zip: another member stands where "X.npy" must`},
	{"zip_descriptor", func(c *craft) { c.files[2].how = "descriptor" }, bundle.ErrDamaged, `zip: header of "report.txt": wrong flags`},
	{"zip_descriptor_manifest", func(c *craft) {
		c.tamper = func(f []zipFile) []zipFile { f[0].how = "descriptor"; return f }
	}, bundle.ErrDamaged, `zip: header of "manifest.json": wrong flags`},
	{"zip_deflate", func(c *craft) { c.files[0].how, c.files[0].Method = "deflate", zip.Deflate }, bundle.ErrDamaged, `member "X.npy"`},
	{"zip_method", func(c *craft) { c.files[2].Method = zip.Deflate }, bundle.ErrDamaged, `zip: header of "report.txt": wrong compression method`},
	{"zip_encrypted", func(c *craft) { c.files[2].Flags = 1 }, bundle.ErrDamaged, `zip: header of "report.txt": wrong flags (a data descriptor or encryption)`},
	{"zip_time", func(c *craft) { c.files[2].ModifiedTime = 1 }, bundle.ErrDamaged, `zip: header of "report.txt": wrong time`},
	{"zip_date", func(c *craft) { c.files[2].ModifiedDate = 0x22 }, bundle.ErrDamaged, `zip: header of "report.txt": wrong date`},
	{"zip_version", func(c *craft) { c.files[2].ReaderVersion = 45 }, bundle.ErrDamaged, `zip: header of "report.txt": wrong version`},
	{"zip_checksum", func(c *craft) { c.files[2].CRC32 = 1 }, bundle.ErrDamaged, `zip: header of "report.txt": wrong checksum`},
	{"zip_extra", func(c *craft) { c.files[2].Extra = []byte{1, 2, 0, 0} }, bundle.ErrDamaged, ""},
	{"zip_member_comment", func(c *craft) { c.files[2].Comment = "secret" }, bundle.ErrDamaged, "of the directory is not what follows from the members"},
	{"zip_attributes", func(c *craft) { c.files[2].ExternalAttrs = 0o120777 << 16 }, bundle.ErrDamaged, "of the directory is not what follows from the members"},
	{"zip_name_in_directory", func(c *craft) {
		c.zipTamper = func(b []byte) []byte {
			at := bytes.LastIndex(b, []byte("report.txt"))
			return append(append(bytes.Clone(b[:at]), "REPORT.txt"...), b[at+10:]...)
		}
	}, bundle.ErrDamaged, "of the directory is not what follows from the members"},
	{"zip_comment", func(c *craft) {
		c.zipTamper = func(b []byte) []byte { return append(append(bytes.Clone(b[:len(b)-2]), 6, 0), "secret"...) }
	}, bundle.ErrDamaged, "zip: it has a comment"},
	{"zip_prefix", func(c *craft) { c.zipTamper = func(b []byte) []byte { return append([]byte("MZ prefix"), b...) } }, bundle.ErrDamaged, `zip: other bytes stand where member "manifest.json" must begin`},
	{"zip_after", func(c *craft) { c.zipTamper = func(b []byte) []byte { return append(b, "more"...) } }, bundle.ErrDamaged, "zip: 4 bytes follow its end"},
	{"zip_second", func(c *craft) { c.zipTamper = func(b []byte) []byte { return append(b, b...) } }, bundle.ErrDamaged, "bytes follow its end"},
	{"zip_gap", func(c *craft) {
		c.zipTamper = func(b []byte) []byte {
			at := bytes.Index(b, []byte("report.txtthree")) - 30
			return append(append(bytes.Clone(b[:at]), "gap"...), b[at:]...)
		}
	}, bundle.ErrDamaged, `zip: other bytes stand where member "report.txt" must begin`},
	{"zip_gap_before_directory", func(c *craft) { c.zipTamper = replace("three rows\nPK", "three rows\n..PK") }, bundle.ErrDamaged, "byte 1 of the directory is not what follows from the members"},
	{"zip_cut", func(c *craft) { c.zipTamper = func(b []byte) []byte { return b[:len(b)-1] } }, bundle.ErrDamaged, "zip: it ends within the directory, 1 bytes are missing"},
	{"zip_cut_in_member", func(c *craft) {
		c.zipTamper = func(b []byte) []byte { return b[:bytes.Index(b, []byte("rows\nPK"))] }
	}, bundle.ErrDamaged, `zip: it ends within member "report.txt", 5 bytes are missing`},
	{"zip_empty", func(c *craft) { c.zipTamper = func([]byte) []byte { return nil } }, bundle.ErrDamaged, "zip: it ends within manifest.json"},
}

// next is another base64 letter that stands for the same leading bits: its last
// four bits are no data.
func next(c byte) byte {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return letters[strings.IndexByte(letters, c)^1]
}

// resign replaces the line's signature by one for another purpose.
func resign(c *craft, purpose string) func([]byte) []byte {
	return func(line []byte) []byte {
		at := bytes.Index(line, []byte(`,"signature"`))
		signed := append(bytes.Clone(line[:at]), '}')
		sig := base64.StdEncoding.EncodeToString(wire.Sign(alice().key, purpose, signed))
		return append(line[:at], `,"signature":"`+sig+`"}`...)
	}
}

// TestCraftedBundle shows that craft makes what this package makes, so that
// the refusals below have no other reason than theirs.
func TestCraftedBundle(t *testing.T) {
	c := newCraft(t)
	r, err := open(c.bytes(), expect(bundle.KindContribution, bob()), bob())
	if err != nil {
		t.Fatal(err)
	}
	if x, err := r.Matrix("X", npy.Limits{}); err != nil || x.At(1, 1) != 3e300 {
		t.Errorf("X = %v, %v", x, err)
	}
}

func TestBadBundles(t *testing.T) {
	for _, c := range badBundles {
		b := newCraft(t)
		c.change(b)
		_, err := open(b.bytes(), expect(bundle.KindContribution, bob()), bob())
		refused(t, c.name, err, c.kind, c.text)
	}
}

// frozen are the cases of which a sample is kept.
var frozen = []string{
	"line_version", "line_altered", "line_resigned", "other_study", "other_epoch", "other_recipient", "other_recipient_key",
	"ciphertext", "cut", "disagree_number", "manifest_version", "manifest_shape", "manifest_signed_by_other",
	"approval_missing", "approval_by_other", "approval_version", "zip_content", "zip_missing", "zip_unlisted", "zip_duplicate",
	"zip_descriptor", "zip_deflate", "zip_comment", "zip_prefix", "zip_gap", "zip_name_in_directory",
}

// TestSamples reads the frozen samples: what was once sealed can be opened for
// ever, and what was refused stays refused for the same reason.
func TestSamples(t *testing.T) {
	good := filepath.Join("testdata", "good.bundle")
	bad := func(name string) string { return filepath.Join("testdata", "bad_"+name+".bundle") }
	if *update {
		to := []who{bob(), carol()}
		write(t, good, sealed(t, draft(to...), to...))
	}
	b, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []who{bob(), carol()} {
		got, err := open(b, expect(bundle.KindContribution, r), r)
		if err != nil {
			t.Fatal(err)
		}
		checkContents(t, got)
	}
	kept := 0
	for _, c := range badBundles {
		if !slices.Contains(frozen, c.name) {
			continue
		}
		kept++
		if *update {
			b := newCraft(t)
			c.change(b)
			write(t, bad(c.name), b.bytes())
		}
		b, err := os.ReadFile(bad(c.name))
		if err != nil {
			t.Error(err)
			continue
		}
		_, err = open(b, expect(bundle.KindContribution, bob()), bob())
		refused(t, c.name, err, c.kind, c.text)
	}
	files, err := filepath.Glob(bad("*"))
	if err != nil || kept != len(frozen) || len(files) != len(frozen) {
		t.Errorf("%d cases, %d samples, %d names, %v", kept, len(files), len(frozen), err)
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}
