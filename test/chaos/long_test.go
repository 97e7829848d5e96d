//go:build long

package chaos

import (
	"context"
	"testing"
)

const (
	hits     = 12
	requests = 600
)

var (
	killed = []string{"dc", "nri"}
	cut    = []string{"dc", "nri"}
)

// TestPooled: the same where the parties pool figures by masked sums: nobody's second message
// differs from the first, and all have the same sums.
func TestPooled(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(context.Context, Options) (*Report, error){"kills": Kills, "cuts": Cuts} {
		t.Run(name, func(t *testing.T) {
			r, err := play(t.Context(), options(t, 10, "pool"))
			if err != nil {
				t.Fatal(err)
			}
			all(t, r, 10)
		})
	}
}

// TestFiles: power cuts where parties change between the network and files as it comes.
func TestFiles(t *testing.T) {
	t.Parallel()
	opt := options(t, 8, "nri")
	opt.Files = true
	r, err := Cuts(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 8)
}

// TestTrainings: aligning and training that a kill interrupts is done again, with the
// same result.
func TestTrainings(t *testing.T) {
	t.Parallel()
	r, err := Trainings(t.Context(), options(t, 3, "dc"))
	if err != nil {
		t.Fatal(err)
	}
	all(t, r, 1)
}
