// Package ahead reads ahead: while one block is worked on, the next one is read by a
// goroutine of its own. What a transfer does with its bytes, unsealing, hashing and
// writing, goes on side by side.
//
// Start with [Read]. It does not look for errors of its own: a reader's error comes
// after the bytes before it.
package ahead

import "io"

// Reader reads another reader ahead, by one block.
type Reader struct {
	blocks chan block
	free   chan []byte
	quit   chan struct{}
	ended  chan struct{}
	now    block  // what is left of the present one
	whole  []byte // its buffer
}

type block struct {
	b   []byte
	err error // after b
}

// Read begins to read r in blocks of size bytes. Whoever calls it calls Stop before r's
// source is closed.
//
// Cost: two blocks of memory.
func Read(r io.Reader, size int) *Reader {
	a := &Reader{blocks: make(chan block), free: make(chan []byte, 2), quit: make(chan struct{}), ended: make(chan struct{})}
	for range 2 {
		a.free <- make([]byte, max(1, size))
	}
	go a.run(r)
	return a
}

func (a *Reader) run(r io.Reader) {
	defer close(a.ended)
	for {
		var buf []byte
		select {
		case buf = <-a.free:
		case <-a.quit:
			return
		}
		n, err := fill(r, buf)
		select {
		case a.blocks <- block{buf[:n], err}:
		case <-a.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// fill reads until buf is full or r ends, whose error it gives with what came before.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var k int
		k, err = r.Read(buf[n:])
		n += k
	}
	return n, err
}

// Read gives what has been read, and r's error after it.
func (a *Reader) Read(p []byte) (int, error) {
	b, err := a.Next(len(p))
	return copy(p, b), err
}

// Next gives at most n of the next bytes without copying them; they are good until the
// next call. The reader's error comes alone, after all bytes.
func (a *Reader) Next(n int) ([]byte, error) {
	for len(a.now.b) == 0 {
		if a.now.err != nil {
			return nil, a.now.err
		}
		if a.whole != nil {
			a.free <- a.whole // there is room: there are two
		}
		a.now = <-a.blocks
		a.whole = a.now.b[:cap(a.now.b)]
	}
	b := a.now.b[:min(n, len(a.now.b))]
	a.now.b = a.now.b[len(b):]
	return b, nil
}

// Stop waits until nothing is read any more. A read that is under way must end by
// itself, or be made to.
func (a *Reader) Stop() {
	close(a.quit)
	<-a.ended
}
