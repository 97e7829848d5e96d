package masked

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"sync"

	"concord/secret"
	"concord/wire"
)

// Labels of the key derivation. A changed label is another mask.
const (
	labelSet   = "concord/masked/set/v1"
	labelPair  = "concord/masked/pair/v1"
	labelShare = "concord/masked/share/v1"
	labelOwn   = "concord/masked/own/v1"
)

// chunkBytes is how much of a vector is masked at a time: a piece and a stream of that
// length stay in a core's cache.
const chunkBytes = 64 << 10

const chunkWords = chunkBytes / wordBytes

// context is what every key of one set and stage is bound to, besides the epoch, which is
// the salt:
//
//	info = label ‖ 0 ‖ study ‖ u32 stage ‖ u32 attempt ‖ set ‖ statistics ‖ what follows
func (r *Round) context(label string, g *group, more ...wire.Hash) string {
	b := append([]byte(label), 0)
	b = append(b, r.Study[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(r.Stage))
	b = binary.BigEndian.AppendUint32(b, uint32(g.attempt()))
	b = append(b, g.hash[:]...)
	b = append(b, r.statistics[:]...)
	for _, h := range more {
		b = append(b, h[:]...)
	}
	return string(b)
}

// derive is HKDF-SHA256 of a secret with the epoch as salt; 32 bytes.
func (r *Round) derive(s secret.Bytes, info string) secret.Bytes {
	key, err := hkdf.Key(sha256.New, s.Reveal(), r.Epoch[:], info, 32)
	if err != nil {
		panic("masked: " + err.Error()) // only for lengths that HKDF cannot give
	}
	return secret.NewBytes(key)
}

// stream is one mask: words that are added or subtracted.
type stream struct {
	block    cipher.Block
	subtract bool
}

// newStream makes AES-256 in counter mode of a key of 32 bytes. Word w of the mask is the
// encryption of w as a big-endian block, so any piece can be made by itself.
func newStream(key secret.Bytes, subtract bool) stream {
	block, err := aes.NewCipher(key.Reveal())
	if err != nil {
		panic("masked: " + err.Error()) // only for other lengths of the key
	}
	return stream{block, subtract}
}

// apply adds all masks to the words in dst, the first of which is word from. buf and zero
// have at least dst's length.
func apply(masks []stream, dst []byte, from int, buf, zero []byte) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(from))
	buf, zero = buf[:len(dst)], zero[:len(dst)]
	for _, m := range masks {
		cipher.NewCTR(m.block, counter[:]).XORKeyStream(buf, zero)
		if m.subtract {
			subWords(dst, buf)
		} else {
			addWords(dst, buf)
		}
	}
}

// zeros are what a stream cipher encrypts when its key stream is wanted.
var zeros = make([]byte, chunkBytes)

// each calls f for the pieces of n words, chunkWords long but the last, on all
// processors: from is the piece's first word, buf scratch space of chunkBytes. Pieces of one call of each
// run at the same time and must not touch each other's words.
func each(n int, f func(from, to int, buf []byte)) {
	var wg sync.WaitGroup
	pieces := (n + chunkWords - 1) / chunkWords
	workers := min(runtime.GOMAXPROCS(0), pieces)
	for w := range workers {
		wg.Go(func() {
			buf := make([]byte, chunkBytes)
			for p := w; p < pieces; p += workers {
				f(p*chunkWords, min(n, (p+1)*chunkWords), buf)
			}
		})
	}
	wg.Wait()
}
