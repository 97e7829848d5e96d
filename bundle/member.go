package bundle

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"gonum.org/v1/gonum/mat"

	"concord/npy"
)

// Member returns a member's content. Should the file have changed since it was
// opened, the last read fails with ErrDamaged instead of io.EOF.
func (r *Reader) Member(name string) (io.Reader, error) {
	c, err := r.content(name)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (r *Reader) content(name string) (*content, error) {
	m, ok := r.Manifest.Member(name)
	if !ok {
		m, ok = r.Manifest.Member(name + sealedSuffix)
	}
	if !ok {
		return nil, refuse(ErrDamaged, "there is no member %q", name)
	}
	section := io.NewSectionReader(r.src, r.offsets[m.Name], m.Bytes)
	var in io.Reader = bufio.NewReaderSize(section, int(min(m.Bytes, copyBytes)))
	if m.Sealed != nil && name != m.Name {
		in, g, err := r.unsealed(m, in)
		if err != nil {
			return nil, err
		}
		return &content{r: in, want: m.inside(), gauge: g}, nil
	}
	return &content{r: in, want: m, gauge: newGauge(m.Bytes)}, nil
}

type content struct {
	r     io.Reader
	want  Member
	gauge *gauge
	err   error // why reading stopped, unless at the end
}

// Read reads on, and counts and hashes what comes.
func (c *content) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.r.Read(p)
	c.gauge.Write(p[:n]) // more than it admits come from sealed members at most
	if err != nil && !errors.Is(err, io.EOF) {
		c.err = readError(err)
		return n, c.err
	}
	if err != nil {
		if got, wrong := c.gauge.member(c.want.Name); wrong != nil || !got.equal(c.want) || c.gauge.over {
			c.err = refuse(ErrDamaged, "member %q has changed since the bundle was opened", c.want.Name)
			return n, c.err
		}
	}
	return n, err
}

// explain is for errors of a codec that reads c.
func (c *content) explain(err error) error {
	if err == nil || c.err != nil {
		return c.err
	}
	return refuse(ErrDamaged, "member %q: %v", c.want.Name, err)
}

// Bytes returns a whole member of at most most bytes.
func (r *Reader) Bytes(name string, most int64) ([]byte, error) {
	c, err := r.content(name)
	if err != nil {
		return nil, err
	}
	if c.want.Bytes > most {
		return nil, refuse(ErrDamaged, "member %q has %d bytes, at most %d are read", name, c.want.Bytes, most)
	}
	return io.ReadAll(c)
}

// Ints returns the integers of member name.npy. lim.Input is ignored.
func (r *Reader) Ints(name string, lim npy.Limits) ([]int64, error) {
	c, err := r.content(name + ".npy")
	if err != nil {
		return nil, err
	}
	lim.Input = c.want.Bytes
	v, err := npy.ReadInts(c, lim)
	if err != nil {
		return nil, c.explain(err)
	}
	return v, nil
}

// Matrix returns the matrix of member name.npy, or of its row blocks
// name.0000.npy and so on. lim.Input is ignored.
//
// Cost: the matrix in memory, and one block if there are several.
func (r *Reader) Matrix(name string, lim npy.Limits) (*mat.Dense, error) {
	blocks, err := r.blocks(name)
	if err != nil {
		return nil, err
	}
	if len(blocks) > 0 {
		return r.joined(name, blocks, lim)
	}
	return r.matrix(name+".npy", lim)
}

func (r *Reader) matrix(member string, lim npy.Limits) (*mat.Dense, error) {
	c, err := r.content(member)
	if err != nil {
		return nil, err
	}
	lim.Input = c.want.Bytes
	m, err := npy.ReadMatrix(c, lim)
	if err != nil {
		return nil, c.explain(err)
	}
	return m, nil
}

// blocks returns the row blocks of a matrix in order.
func (r *Reader) blocks(name string) ([]Member, error) {
	var blocks []Member
	for _, m := range r.Manifest.Members {
		m = m.inside()
		digits, ok := strings.CutPrefix(m.Name, name+".")
		if digits, ok2 := strings.CutSuffix(digits, ".npy"); !ok || !ok2 || len(digits) != 4 || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		if want := blockName(name, len(blocks)) + ".npy"; m.Name != want {
			return nil, refuse(ErrDamaged, "row block %q stands where %q must", m.Name, want)
		}
		blocks = append(blocks, m)
	}
	_, whole := r.Manifest.Member(name + ".npy")
	_, sealed := r.Manifest.Member(name + ".npy" + sealedSuffix)
	if (whole || sealed) && len(blocks) > 0 {
		return nil, refuse(ErrDamaged, "%q is there both whole and in row blocks", name+".npy")
	}
	return blocks, nil
}

// joined reads row blocks one below the other.
func (r *Reader) joined(name string, blocks []Member, lim npy.Limits) (*mat.Dense, error) {
	rows, cols, err := joinedShape(name, blocks)
	if err != nil {
		return nil, err
	}
	if err := lim.Check(rows, cols); err != nil {
		return nil, refuse(ErrDamaged, "row blocks of %q: %v", name, err)
	}
	all := mat.NewDense(rows, cols, nil)
	at := 0
	for _, m := range blocks {
		block, err := r.matrix(m.Name, lim)
		if err != nil {
			return nil, err
		}
		all.Slice(at, at+m.Shape[0], 0, cols).(*mat.Dense).Copy(block)
		at += m.Shape[0]
	}
	return all, nil
}

// joinedShape is the shape of row blocks one below the other.
func joinedShape(name string, blocks []Member) (rows, cols int, err error) {
	for i, m := range blocks {
		if len(m.Shape) != 2 || m.Dtype != blocks[0].Dtype || m.Shape[1] != blocks[0].Shape[1] || m.Shape[0] == 0 || m.Shape[1] == 0 {
			return 0, 0, refuse(ErrDamaged, "row block %d of %q is %s %v, the first is %s %v", i, name, m.Dtype, m.Shape, blocks[0].Dtype, blocks[0].Shape)
		}
		rows, cols = rows+m.Shape[0], m.Shape[1]
	}
	return rows, cols, nil
}

// Shape is the shape of the matrix that [Reader.Matrix] reads, as its members were
// found to have it; a member of one dimension is a column.
func (r *Reader) Shape(name string) (rows, cols int, err error) {
	blocks, err := r.blocks(name)
	if err != nil {
		return 0, 0, err
	}
	if len(blocks) > 0 {
		return joinedShape(name, blocks)
	}
	for _, m := range r.Manifest.Members {
		if m = m.inside(); m.Name != name+".npy" {
			continue
		}
		if len(m.Shape) == 1 {
			return m.Shape[0], 1, nil
		}
		return m.Shape[0], m.Shape[1], nil
	}
	return 0, 0, refuse(ErrDamaged, "there is no member %q", name+".npy")
}
