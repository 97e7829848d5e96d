package masked

import (
	"fmt"
	"io"
	"testing"

	"concord/wire"
)

// BenchmarkReady masks 2 million words, a second moment of 2,000 columns, for so many parties;
// bytes are those of all masks.
func BenchmarkReady(b *testing.B) {
	const n = 2_000_000
	for _, parties := range []int{4, 20, 200} {
		b.Run(fmt.Sprintf("%d-parties", parties), func(b *testing.B) {
			ids := people(parties)
			c := config(ids, 1, Statistics{N: n, Digest: wire.Hash{1}, Bound: 1e6})
			v, err := Encode(c.Statistics, make([]float64, n))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(parties) * n * wordBytes)
			b.ReportAllocs()
			for b.Loop() {
				r, err := New(c, ids[0])
				if err != nil {
					b.Fatal(err)
				}
				if err := r.Ready(v, io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkSums sums 2 million words of 20 parties; bytes are those of all messages.
func BenchmarkSums(b *testing.B) {
	const n, parties = 2_000_000, 20
	ids := people(parties)
	sites := sitesOf(b, ids, config(ids, 1, Statistics{N: n, Digest: wire.Hash{1}, Bound: 1e6}))
	run(b, sites)
	b.SetBytes(parties * n * wordBytes)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sites[0].Sums(sites[0].open); err != nil {
			b.Fatal(err)
		}
	}
}
