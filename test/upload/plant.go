package upload

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"concord/bundle"
	"concord/identity"
	"concord/internal/site"
	"concord/npy"
	"concord/wire"
)

// plant puts rows at random in the place of those that were prepared, as prepare would
// have left them, and returns their manifest's hash.
func (s *play) plant(size int64) (string, error) {
	at := &site.Site{Dir: s.party(0)}
	id, err := at.Identity()
	if err != nil {
		return "", err
	}
	leaves := func(name string) string { return at.Leaves(bundle.KindContribution, name) }
	b, err := os.ReadFile(leaves("manifest.json"))
	if err != nil {
		return "", err
	}
	m, err := bundle.DecodeManifest(b)
	if err != nil {
		return "", err
	}
	if err := os.Remove(leaves("X.npy")); err != nil {
		return "", err
	}
	rows, block := rowsOf(size), (1<<30)/8/dim
	var members []bundle.Source
	add := func(name string, fill func(io.Writer) error) error {
		members = append(members, bundle.FromFile(name, leaves(name)))
		return writeBuffered(leaves(name), fill)
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	for first := 0; first < rows; first += block {
		name := fmt.Sprintf("X.%04d.npy", first/block)
		if rows <= block {
			name = "X.npy"
		}
		if err := add(name, func(w io.Writer) error { return drawn(w, min(block, rows-first), rnd) }); err != nil {
			return "", err
		}
	}
	members = append(members, bundle.FromFile("A.npy", leaves("A.npy")))
	labels := make([]int64, rows)
	for i := range labels {
		labels[i] = int64(i % 2)
	}
	if err := add("Y.npy", func(w io.Writer) error { return npy.WriteInts(w, labels) }); err != nil {
		return "", err
	}
	if m, err = bundle.Describe(bundle.Draft{Header: m.Header, Anchor: m.Anchor, Members: members}); err != nil {
		return "", err
	}
	if err := os.WriteFile(leaves("manifest.json"), m.Encode(), 0o600); err != nil {
		return "", err
	}
	return m.Hash().String(), vouch(at, id, m)
}

// vouch signs that report and source belong to the manifest (docs/formats.md).
func vouch(at *site.Site, id *identity.Identity, m *bundle.Manifest) error {
	path := at.Stays(bundle.KindContribution, "prepared.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var word struct {
		Manifest  wire.Hash `json:"manifest"`
		Report    wire.Hash `json:"report"`
		Source    wire.Hash `json:"source"`
		Signature []byte    `json:"signature,omitempty"`
	}
	if err := json.Unmarshal(b, &word); err != nil {
		return err
	}
	word.Manifest, word.Signature = m.Hash(), nil
	if b, err = json.Marshal(word); err != nil {
		return err
	}
	word.Signature = wire.Sign(id.SigningKey(), "prepared", b)
	if b, err = json.Marshal(word); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

func writeBuffered(path string, fill func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	return errors.Join(fill(w), w.Flush(), f.Sync(), f.Close())
}

// drawn writes a matrix of that many rows at random.
func drawn(w io.Writer, rows int, rnd *rand.Rand) error {
	if err := npy.WriteHeader(w, rows, dim); err != nil {
		return err
	}
	row := make([]byte, 0, 8*dim)
	for range rows {
		row = row[:0]
		for range dim {
			row = binary.LittleEndian.AppendUint64(row, math.Float64bits(rnd.Float64()-0.5))
		}
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}
