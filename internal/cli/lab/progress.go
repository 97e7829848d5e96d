package lab

import (
	"fmt"
	"io"
	"os"
	"time"

	"concord/lab"
)

// progress shows how far long work is: one line that changes on a terminal, a line
// every half minute elsewhere.
type progress struct {
	w        io.Writer
	terminal bool
	last     time.Time
	width    int
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return p
}

func (p *progress) draws(d lab.Progress) { p.show("", d) }

func (p *progress) show(what string, d lab.Progress) {
	every := 30 * time.Second
	if p.terminal {
		every = 100 * time.Millisecond
	}
	end := d.Done == d.Count
	if p.last.IsZero() {
		p.last = time.Now() // short work shows nothing
	}
	if !end && time.Since(p.last) < every || end && !p.terminal {
		return
	}
	p.last = time.Now()
	text := fmt.Sprintf("%d of %d draws", d.Done, d.Count)
	if what != "" {
		text = what + ": " + text
	}
	if d.Left > 0 {
		text += fmt.Sprintf(", %s left", d.Left.Round(time.Second))
	}
	if !p.terminal {
		fmt.Fprintln(p.w, text)
		return
	}
	if end {
		text = ""
	}
	fmt.Fprintf(p.w, "\r%-*s\r", p.width, text)
	p.width = len(text)
}
