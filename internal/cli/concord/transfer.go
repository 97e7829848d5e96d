package concord

import (
	"fmt"
	"io"
	"os"
	"time"
)

// transfer shows how far a large upload or download is: one line that changes on a
// terminal, a line every half minute elsewhere. Short ones show nothing.
type transfer struct {
	w        io.Writer
	terminal bool
	began    time.Time
	shown    time.Time
	width    int
}

func newTransfer(w io.Writer) *transfer {
	t := &transfer{w: w}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		t.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return t
}

// show is called whenever something has arrived.
func (t *transfer) show(what string, done, total int64) {
	every := 30 * time.Second
	if t.terminal {
		every = 200 * time.Millisecond
	}
	now := time.Now()
	if t.began.IsZero() {
		t.began, t.shown = now, now
	}
	end := done >= total
	if end && t.width > 0 {
		t.clear()
	}
	if end || now.Sub(t.shown) < every {
		return
	}
	t.shown = now
	text := fmt.Sprintf("concord: %s %d of %d MB (%d %%)", what, done>>20, total>>20, 100*done/max(total, 1))
	if !t.terminal {
		fmt.Fprintln(t.w, text)
		return
	}
	fmt.Fprintf(t.w, "\r%-*s", t.width, text)
	t.width = len(text)
}

// clear wipes the line, for what is printed next.
func (t *transfer) clear() {
	if t.width > 0 {
		fmt.Fprintf(t.w, "\r%*s\r", t.width, "")
		t.width = 0
	}
}
