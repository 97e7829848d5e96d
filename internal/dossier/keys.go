package dossier

import (
	"crypto/sha256"
	"encoding/binary"

	"filippo.io/age"

	"concord/bundle"
	"concord/wire"
)

// maxKeysBytes bounds the keys of one bundle.
const maxKeysBytes = 4 << 20

// Keys are the file keys of one bundle's age payloads, by the SHA-256 of the header
// that each is for: that of the bundle, and under nri those of its members.
type Keys struct {
	Format int   `json:"format"`
	Keys   []Key `json:"keys"`
}

// Key opens one age file.
type Key struct {
	Header wire.Hash `json:"header"`
	Key    []byte    `json:"key"`
}

// Recorder opens with an identity, and keeps what opens without it.
type Recorder struct {
	id   age.Identity
	keys Keys
}

// Record makes a recorder.
func Record(id age.Identity) *Recorder {
	return &Recorder{id: id, keys: Keys{Format: 1, Keys: []Key{}}}
}

// Unwrap is age's question for a file key.
func (r *Recorder) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	key, err := r.id.Unwrap(stanzas)
	if err != nil {
		return nil, err
	}
	header := headerOf(stanzas)
	for _, k := range r.keys.Keys {
		if k.Header == header {
			return key, nil
		}
	}
	r.keys.Keys = append(r.keys.Keys, Key{header, append([]byte(nil), key...)})
	return key, nil
}

// Encode returns what was recorded, canonically.
func (r *Recorder) Encode() ([]byte, error) { return wire.Canonical(r.keys) }

// DecodeKeys reads what Encode wrote, as an identity that opens those files and no
// other.
func DecodeKeys(b []byte) (age.Identity, error) {
	var k Keys
	if r := bundle.Decode(b, "the keys of a bundle", &k); r != nil {
		return nil, refuse(r.Kind, "%s", r.Text)
	}
	return opener(k.Keys), nil
}

type opener []Key

// Unwrap finds the key of the file with these stanzas.
func (o opener) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	header := headerOf(stanzas)
	for _, k := range o {
		if k.Header == header {
			return append([]byte(nil), k.Key...), nil
		}
	}
	return nil, age.ErrIncorrectIdentity
}

// headerOf names the recipients' part of an age header.
func headerOf(stanzas []*age.Stanza) wire.Hash {
	sum := sha256.New()
	write := func(b []byte) {
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
		sum.Write(b)
	}
	for _, s := range stanzas {
		write([]byte(s.Type))
		sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s.Args))))
		for _, a := range s.Args {
			write([]byte(a))
		}
		write(s.Body)
	}
	return wire.Hash(sum.Sum(nil))
}
