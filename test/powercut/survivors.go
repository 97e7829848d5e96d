package powercut

import (
	"io/fs"
	"math/rand/v2"
)

// Survival says what is left of what was not flushed.
type Survival int

// The ways in which a disk loses what was not flushed.
const (
	// Nothing of it is left.
	Nothing Survival = iota
	// Ordered: changes of names are left up to some moment, as on a file system with
	// a journal, and of the bytes any sectors: a name may be there without its bytes.
	Ordered
	// Some: any change of a name is left or not, any sector is, whatever came first.
	Some
	// Everything is left, as after kill -9.
	Everything
	survivals
)

// String names the way.
func (s Survival) String() string {
	return [...]string{"nothing", "ordered", "some", "everything"}[s]
}

// AnySurvival draws a way; the harsh ones come more often.
func AnySurvival(rnd *rand.Rand) Survival {
	return []Survival{Nothing, Nothing, Ordered, Some, Some, Everything}[rnd.IntN(6)]
}

// sector is what a disk writes whole.
const sector = 512

// Survivors is the disk that is found when the power comes back. The old one must
// not be in use any more.
func (d *Disk) Survivors(how Survival, rnd *rand.Rand) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := New()
	next.Lies = d.Lies
	copies := map[*node]*node{d.root: next.root}
	until := 1.0
	if how == Ordered {
		until = rnd.Float64()
	}
	d.copyFolder(next, copies, d.root, how, until, rnd)
	return next
}

// copyFolder fills the copy of a folder with what is left of it.
func (d *Disk) copyFolder(next *Disk, copies map[*node]*node, from *node, how Survival, until float64, rnd *rand.Rand) {
	entries := map[string]*node{}
	for name, n := range from.kept {
		entries[name] = n
	}
	for i, m := range from.moves {
		left := false
		switch how {
		case Ordered:
			left = float64(i) < until*float64(len(from.moves))
		case Some:
			left = rnd.IntN(2) == 0
		case Everything:
			left = true
		}
		if left {
			m.apply(entries)
		}
	}
	to := copies[from]
	for _, name := range (&node{entries: entries}).names() { // sorted: the same draws for a seed
		n := entries[name]
		copied := copies[n]
		if copied == nil {
			copied = next.newNode(n.mode)
			copied.name = name
			copies[n] = copied
			if n.mode.IsDir() {
				d.copyFolder(next, copies, n, how, until, rnd)
			} else {
				copied.data = leftOf(n, how, rnd)
				copied.flushed = append([]byte(nil), copied.data...)
			}
		}
		to.entries[name], to.kept[name] = copied, copied
	}
}

// leftOf is what is found of a file.
func leftOf(n *node, how Survival, rnd *rand.Rand) []byte {
	b := append([]byte(nil), n.flushed...)
	for _, w := range n.writes {
		switch how {
		case Nothing:
		case Everything:
			b = w.apply(b)
		case Ordered, Some:
			if w.bytes == nil {
				if rnd.IntN(2) == 0 {
					b = w.apply(b)
				}
				continue
			}
			for start := int64(0); start < int64(len(w.bytes)); { // to the end of each sector
				end := min(start+sector-(w.at+start)%sector, int64(len(w.bytes)))
				if rnd.IntN(2) == 0 {
					b = write{at: w.at + start, bytes: w.bytes[start:end]}.apply(b)
				}
				start = end
			}
		}
	}
	return b
}

// Walk calls f for every file and folder as programs see them, folders first, with
// paths like "a/b".
func (d *Disk) Walk(f func(path string, mode fs.FileMode, data []byte) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.root.walk("", f)
}

func (n *node) walk(path string, f func(string, fs.FileMode, []byte) error) error {
	for _, name := range n.names() {
		below, at := n.entries[name], name
		if path != "" {
			at = path + "/" + name
		}
		if err := f(at, below.mode, below.data); err != nil {
			return err
		}
		if below.mode.IsDir() {
			if err := below.walk(at, f); err != nil {
				return err
			}
		}
	}
	return nil
}
