// Package powercut is a disk that forgets: a file system in memory that keeps
// apart what was flushed and what was only written, and that on a power cut
// drops the second, whole, in parts or in another order, as a real disk may.
//
// Start with [New] and [Disk.Mount], let programs work in the mounted folder,
// set [Disk.CutAfter], and when [Disk.Frozen] is closed kill the programs,
// unmount and go on with [Disk.Survivors].
//
// What it holds a program to is POSIX at its strictest: a file's bytes last when
// the file was flushed, a name when its folder was, and nothing else lasts for
// certain. What is left of the rest is drawn at random: see [Survival].
//
// It is for tests. It has no symbolic links, no attributes beyond the mode, and no limit.
package powercut

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"
)

// errNoPower is what every operation gets after the cut.
var errNoPower = errors.New("powercut: the power is off")

// Disk is a disk with one file system. It is safe for concurrent use.
type Disk struct {
	// Lies makes the disk acknowledge every flush and keep nothing of it, like
	// a drive whose cache has no battery. A check that does not notice is no check.
	Lies bool

	mu     sync.Mutex
	root   *node
	nodes  map[uint64]*node
	last   uint64 // number of the newest node
	done   int    // operations that change something, flushes included
	cutAt  int    // 0: never
	frozen chan struct{}
	where  string // the operation that was cut
}

// node is a file or a folder: as programs see it, and as it would be found after
// a power cut.
type node struct {
	number uint64
	name   string // the last one, for people
	mode   fs.FileMode
	time   time.Time

	data    []byte  // a file's bytes as programs see them
	flushed []byte  // as they were when it was last flushed
	writes  []write // since then, in their order

	entries map[string]*node // a folder's, as programs see them
	kept    map[string]*node // as they were when it was last flushed
	moves   []move           // since then
}

// write puts bytes at an offset, or, without bytes, makes a file size long.
type write struct {
	at    int64
	bytes []byte
	size  int64
}

// move takes the name gone away and puts node at name, in one step. Either may be
// empty.
type move struct {
	gone, name string
	node       *node
}

// New returns an empty disk.
func New() *Disk {
	d := &Disk{nodes: map[uint64]*node{}, frozen: make(chan struct{})}
	d.root = d.newNode(fs.ModeDir | 0o755)
	return d
}

func (d *Disk) newNode(mode fs.FileMode) *node {
	d.last++
	n := &node{number: d.last, mode: mode, time: time.Now()}
	if mode.IsDir() {
		n.entries, n.kept = map[string]*node{}, map[string]*node{}
	}
	d.nodes[n.number] = n
	return n
}

// CutAfter lets the power go off in the middle of the n-th operation from now
// that changes something or flushes: the operation does not happen, and nothing
// after it.
func (d *Disk) CutAfter(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cutAt = d.done + n
}

// Cut lets the power go off now.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.freeze("between two operations")
}

// Frozen is closed when the power is off.
func (d *Disk) Frozen() <-chan struct{} { return d.frozen }

// Operations is how many changed something or flushed so far.
func (d *Disk) Operations() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.done
}

// Where says in which operation the power went off.
func (d *Disk) Where() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.where
}

func (d *Disk) freeze(where string) {
	if d.off() {
		return
	}
	d.where = where
	close(d.frozen)
}

func (d *Disk) off() bool {
	select {
	case <-d.frozen:
		return true
	default:
		return false
	}
}

// step counts an operation that is about to change something, or stops it.
func (d *Disk) step(what, name string) error {
	if d.off() {
		return errNoPower
	}
	d.done++
	if d.cutAt > 0 && d.done >= d.cutAt {
		d.freeze(what + " " + name)
		return errNoPower
	}
	return nil
}

// change applies a move to a folder as programs see it, and notes it.
func (n *node) change(m move) {
	m.apply(n.entries)
	n.moves = append(n.moves, m)
	n.time = time.Now()
}

func (m move) apply(entries map[string]*node) {
	delete(entries, m.gone)
	if m.node != nil {
		m.node.name = m.name
		entries[m.name] = m.node
	}
}

// put applies a write to a file as programs see it, and notes it.
func (n *node) put(w write) {
	n.data = w.apply(n.data)
	n.writes = append(n.writes, w)
	n.time = time.Now()
}

func (w write) apply(b []byte) []byte {
	if w.bytes == nil {
		return sized(b, w.size)
	}
	if end := w.at + int64(len(w.bytes)); end > int64(len(b)) {
		b = sized(b, end)
	}
	copy(b[w.at:], w.bytes)
	return b
}

// sized cuts or fills up b with zeros.
func sized(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// flush makes what programs see of a node what lasts.
func (d *Disk) flush(n *node) {
	if d.Lies {
		return
	}
	for _, w := range n.writes {
		n.flushed = w.apply(n.flushed)
	}
	for _, m := range n.moves {
		m.apply(n.kept)
	}
	n.writes, n.moves = nil, nil
}

// names are a folder's, sorted.
func (n *node) names() []string { return slices.Sorted(maps.Keys(n.entries)) }
