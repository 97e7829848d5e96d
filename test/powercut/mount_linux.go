package powercut

import (
	"fmt"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mount shows the disk in a folder, which is made if it is not there, until unmount
// is called. It needs /dev/fuse and the right to mount. The program that mounts must
// not map files of the disk into its own memory.
func (d *Disk) Mount(dir string) (unmount func() error, err error) {
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return nil, fmt.Errorf("powercut: %w; load the module fuse (modprobe fuse), in a container pass --device /dev/fuse --cap-add SYS_ADMIN", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f := &fuseDisk{RawFileSystem: fuse.NewDefaultRawFileSystem(), Disk: d, listings: map[uint64][]fuse.DirEntry{}}
	server, err := fuse.NewServer(f, dir, &fuse.MountOptions{
		FsName: "powercut", Name: "powercut", DirectMountStrict: true,
		DisableXAttrs: true, DisableReadDirPlus: true, MaxWrite: 1 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("powercut: mount %s: %w; it must be done by root", dir, err)
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, fmt.Errorf("powercut: mount %s: %w", dir, err)
	}
	return func() error {
		// Detached: nobody may have anything open any more, but the kernel may not
		// have noticed yet.
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("powercut: unmount %s: %w", dir, err)
		}
		server.Wait()
		return nil
	}, nil
}
