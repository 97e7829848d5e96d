package masked_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"

	"concord/identity"
	"concord/masked"
	"concord/wire"
)

// Four hospitals sum how many rows and how many smokers they have. What each sends is random
// to whoever sees it; everybody gets the sums and nobody another's figures.
func ExampleRound() {
	names := []string{"rows", "smokers"}
	figures := [][]float64{{120, 31}, {80, 22}, {30, 9}, {64, 17}}
	c := masked.Config{
		Study: wire.HashOf([]byte("study")), Epoch: wire.HashOf([]byte("epoch")), Stage: 1, Colluders: 1,
		Statistics: masked.Statistics{N: 2, Name: func(i int) string { return names[i] }, Bound: 1000},
	}
	var people []*identity.Identity
	for i := range figures {
		id, err := identity.New(identity.RoleParty, fmt.Sprint("Hospital ", i+1), nil)
		if err != nil {
			log.Fatal(err)
		}
		people = append(people, id)
		c.Parties = append(c.Parties, id.Statement)
	}
	var rounds []*masked.Round
	words := map[wire.Hash][]byte{} // masked figures, which a relay carries
	for i, id := range people {
		r, err := masked.New(c, id)
		if err != nil {
			log.Fatal(err)
		}
		v, err := masked.Encode(c.Statistics, figures[i])
		if err != nil {
			log.Fatal(err)
		}
		var body bytes.Buffer
		if err := r.Ready(v, &body); err != nil {
			log.Fatal(err)
		}
		words[wire.HashOf(body.Bytes())] = body.Bytes()
		rounds = append(rounds, r)
	}
	deliver(rounds, words) // ready
	for _, r := range rounds {
		if r.Next().Due == masked.DueReveal {
			if err := r.Reveal(); err != nil {
				log.Fatal(err)
			}
		}
	}
	deliver(rounds, words) // reveal
	sums, err := rounds[0].Sums(func(h wire.Hash) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(words[h])), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sums.Values(), "of", len(sums.Set), "hospitals")
	fmt.Println(sums)
	// Output:
	// [294 79] of 4 hospitals
	// secret(2 figures)
}

// deliver hands every message to everybody.
func deliver(rounds []*masked.Round, words map[wire.Hash][]byte) {
	for _, from := range rounds {
		for _, m := range from.Outbox() {
			for _, to := range rounds {
				var body io.Reader
				if m.Body != nil {
					body = bytes.NewReader(words[*m.Body])
				}
				if err := to.Take(m.Head, body); err != nil && !errors.Is(err, masked.ErrUnfit) {
					log.Fatal(err)
				}
			}
		}
	}
}
