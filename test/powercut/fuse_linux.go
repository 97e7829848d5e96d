package powercut

import (
	"io/fs"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// fuseDisk answers the kernel. Only the kernel changes the disk while it is
// mounted, so it may remember names and attributes for as long as it likes.
type fuseDisk struct {
	fuse.RawFileSystem // what is not here does not exist
	*Disk
	listings map[uint64][]fuse.DirEntry // of open folders
	handle   uint64
}

const remember = time.Hour

func (f *fuseDisk) String() string { return "powercut" }

func unixMode(m fs.FileMode) uint32 {
	if m.IsDir() {
		return syscall.S_IFDIR | uint32(m.Perm())
	}
	return syscall.S_IFREG | uint32(m.Perm())
}

func attributes(n *node, a *fuse.Attr) {
	a.Ino, a.Mode, a.Size, a.Nlink = n.number, unixMode(n.mode), uint64(len(n.data)), 1
	a.Blocks, a.Blksize = (a.Size+511)/512, 4096
	a.SetTimes(&n.time, &n.time, &n.time)
}

func entry(n *node, out *fuse.EntryOut) {
	out.NodeId = n.number
	out.SetEntryTimeout(remember)
	out.SetAttrTimeout(remember)
	attributes(n, &out.Attr)
}

// below finds a name in a folder.
func (f *fuseDisk) below(folder uint64, name string) (dir, n *node, status fuse.Status) {
	if f.off() {
		return nil, nil, fuse.EIO
	}
	if dir = f.nodes[folder]; dir == nil || !dir.mode.IsDir() {
		return nil, nil, fuse.ENOTDIR
	}
	return dir, dir.entries[name], fuse.OK
}

func (f *fuseDisk) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, n, status := f.below(h.NodeId, name)
	if status != fuse.OK {
		return status
	}
	if n == nil {
		return fuse.ENOENT
	}
	entry(n, out)
	return fuse.OK
}

func (f *fuseDisk) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil {
		return fuse.ENOENT
	}
	out.SetTimeout(remember)
	attributes(n, &out.Attr)
	return fuse.OK
}

func (f *fuseDisk) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil {
		return fuse.ENOENT
	}
	if size, ok := in.GetSize(); ok {
		if f.step("truncate", n.name) != nil {
			return fuse.EIO
		}
		n.put(write{size: int64(size)})
	}
	if mode, ok := in.GetMode(); ok {
		n.mode = n.mode&fs.ModeDir | fs.FileMode(mode).Perm()
	}
	out.SetTimeout(remember)
	attributes(n, &out.Attr)
	return fuse.OK
}

// add makes a node at a name where none is.
func (f *fuseDisk) add(what string, folder uint64, name string, mode fs.FileMode) (*node, fuse.Status) {
	dir, old, status := f.below(folder, name)
	if status != fuse.OK {
		return nil, status
	}
	if old != nil {
		return nil, fuse.Status(syscall.EEXIST)
	}
	if f.step(what, name) != nil {
		return nil, fuse.EIO
	}
	n := f.newNode(mode)
	dir.change(move{name: name, node: n})
	return n, fuse.OK
}

func (f *fuseDisk) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, status := f.add("mkdir", in.NodeId, name, fs.ModeDir|fs.FileMode(in.Mode).Perm())
	if status == fuse.OK {
		entry(n, out)
	}
	return status
}

func (f *fuseDisk) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, status := f.add("create", in.NodeId, name, fs.FileMode(in.Mode).Perm())
	if status == fuse.OK {
		entry(n, &out.EntryOut)
	}
	return status
}

// Link gives a file another name.
func (f *fuseDisk) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.Oldnodeid]
	dir, old, status := f.below(in.NodeId, name)
	switch {
	case status != fuse.OK:
		return status
	case n == nil || n.mode.IsDir():
		return fuse.EPERM
	case old != nil:
		return fuse.Status(syscall.EEXIST)
	case f.step("link", name) != nil:
		return fuse.EIO
	}
	dir.change(move{name: name, node: n})
	entry(n, out)
	return fuse.OK
}

func (f *fuseDisk) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return f.remove("remove", h.NodeId, name)
}

func (f *fuseDisk) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	return f.remove("remove", h.NodeId, name)
}

func (f *fuseDisk) remove(what string, folder uint64, name string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, n, status := f.below(folder, name)
	switch {
	case status != fuse.OK:
		return status
	case n == nil:
		return fuse.ENOENT
	case len(n.entries) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	case f.step(what, name) != nil:
		return fuse.EIO
	}
	dir.change(move{gone: name})
	return fuse.OK
}

func (f *fuseDisk) Rename(_ <-chan struct{}, in *fuse.RenameIn, from, to string) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	dir, n, status := f.below(in.NodeId, from)
	if status != fuse.OK {
		return status
	}
	target, old, status := f.below(in.Newdir, to)
	switch {
	case status != fuse.OK:
		return status
	case n == nil:
		return fuse.ENOENT
	case in.Flags != 0:
		return fuse.EINVAL
	case old != nil && len(old.entries) > 0:
		return fuse.Status(syscall.ENOTEMPTY)
	case f.step("rename", from+" to "+to) != nil:
		return fuse.EIO
	}
	if dir == target {
		dir.change(move{gone: from, name: to, node: n})
		return fuse.OK
	}
	target.change(move{name: to, node: n})
	dir.change(move{gone: from})
	return fuse.OK
}

func (f *fuseDisk) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil || f.off() {
		return fuse.EIO
	}
	if in.Flags&syscall.O_TRUNC != 0 {
		if f.step("truncate", n.name) != nil {
			return fuse.EIO
		}
		n.put(write{})
	}
	return fuse.OK
}

func (f *fuseDisk) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil || f.off() {
		return nil, fuse.EIO
	}
	from := min(in.Offset, uint64(len(n.data)))
	return fuse.ReadResultData(buf[:copy(buf, n.data[from:])]), fuse.OK
}

func (f *fuseDisk) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil {
		return 0, fuse.EIO
	}
	if in.WriteFlags&fuse.WRITE_CACHE != 0 && !f.off() { // shared memory, when the kernel likes
		n.put(write{at: int64(in.Offset), bytes: append([]byte{}, data...)})
		return uint32(len(data)), fuse.OK
	}
	if f.step("write", n.name) != nil {
		return 0, fuse.EIO
	}
	n.put(write{at: int64(in.Offset), bytes: append([]byte{}, data...)})
	return uint32(len(data)), fuse.OK
}

func (f *fuseDisk) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return f.sync(in) }

func (f *fuseDisk) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status { return f.sync(in) }

func (f *fuseDisk) sync(in *fuse.FsyncIn) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil || f.step("flush", n.name) != nil {
		return fuse.EIO
	}
	f.flush(n)
	return fuse.OK
}

// Flush is what close does; it makes nothing last.
func (f *fuseDisk) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (f *fuseDisk) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

func (f *fuseDisk) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = 4096, 4096, 255
	out.Blocks, out.Bfree, out.Bavail = 1<<20, 1<<20, 1<<20
	return fuse.OK
}

func (f *fuseDisk) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.nodes[in.NodeId]
	if n == nil || f.off() {
		return fuse.EIO
	}
	var list []fuse.DirEntry // as it is now: what is removed while it is read changes no place
	for _, name := range n.names() {
		list = append(list, fuse.DirEntry{Name: name, Ino: n.entries[name].number, Mode: unixMode(n.entries[name].mode)})
	}
	f.handle++
	out.Fh, f.listings[f.handle] = f.handle, list
	return fuse.OK
}

func (f *fuseDisk) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.listings[in.Fh]
	for _, e := range list[min(in.Offset, uint64(len(list))):] {
		if !out.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (f *fuseDisk) ReleaseDir(in *fuse.ReleaseIn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listings, in.Fh)
}
