package lab

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
)

// Stream is the randomness of one purpose: a ChaCha8 generator keyed by
// SHA-256("concord/lab/v1", seed, purpose...), each part with its length before it.
func Stream(seed uint64, purpose ...any) *rand.ChaCha8 {
	h := sha256.New()
	fmt.Fprintf(h, "concord/lab/v1 %d", seed)
	for _, p := range purpose {
		text := fmt.Sprint(p)
		fmt.Fprintf(h, " %d:%s", len(text), text)
	}
	return rand.NewChaCha8([32]byte(h.Sum(nil)))
}
