package doctor

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"concord/internal/durable"
)

// maxNamed is how many files a finding names.
const maxNamed = 3

// Folder looks at a folder that holds secrets: that others may not look into it,
// that secret says of no file that others can read, that nobody else can write, and
// what interrupted commands left. secret gets the path of a file in the folder, with
// slashes.
func Folder(r *Report, dir string, secret func(path string) bool) {
	var open, writable, left []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Type()&fs.ModeSymlink != 0 {
			return nil // what it leads to has permissions of its own
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if durable.Unfinished(e.Name()) {
			left = append(left, rel)
			if e.IsDir() {
				return fs.SkipDir
			}
		}
		perm := info.Mode().Perm()
		switch {
		case perm&0o022 != 0:
			writable = append(writable, rel)
		case !e.IsDir() && perm&0o077 != 0 && secret(rel), rel == "." && perm&0o077 != 0:
			open = append(open, rel)
		}
		return nil
	})
	if err != nil {
		r.Err("folder", err, "run the program as the user who owns "+dir)
		return
	}
	permissions(r, dir, open, writable)
	if len(left) > 0 {
		r.Warn("leftovers", fmt.Sprintf("an interrupted command left %s in %s", named(left), dir), "nothing is lost; the next command that changes the folder removes them")
	} else {
		r.OK("leftovers", "no interrupted command left anything")
	}
}

// permissions judges what others can read and write. A folder that nobody else may
// enter guards what is in it, until it is copied or opened.
func permissions(r *Report, dir string, open, writable []string) {
	secrets := without(open, ".")
	closed := len(secrets) == len(open) && !slices.Contains(writable, ".")
	cure := "chmod -R go-rwx " + dir
	switch {
	case runtime.GOOS == "windows":
		r.Warn("permissions", "this operating system keeps permissions that are not looked at here", "let nobody else into "+dir)
	case len(writable) > 0 && !closed:
		r.Fail("permissions", fmt.Sprintf("other people's programs can change %s in %s", named(writable), dir), cure)
	case len(secrets) > 0 && !closed:
		r.Fail("permissions", fmt.Sprintf("other people can read %s in %s", named(secrets), dir), cure+"; if others use this computer, ask whether they read it")
	case len(writable)+len(secrets) > 0:
		r.Warn("permissions", fmt.Sprintf("only the folder's own permission keeps other people from %s in %s", named(append(secrets, writable...)), dir), cure)
	case !closed:
		r.Warn("permissions", "other people can look into the folder "+dir+", though not read its secrets", "chmod 700 "+dir)
	default:
		r.OK("permissions", "%s is for this user only", dir)
	}
}

func without(list []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == name })
}

func named(paths []string) string {
	if n := len(paths) - maxNamed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxNamed], ", "), n)
	}
	return strings.Join(paths, ", ")
}

// Disk compares the room on a folder's disk with what will be needed there.
func Disk(r *Report, dir string, need int64, what string) {
	free, err := durable.Room(dir)
	switch {
	case err != nil:
		r.Warn("disk", fmt.Sprintf("the room in %s is not known: %v", dir, err), fmt.Sprintf("make sure that %s are free: %s", Bytes(need), what))
	case free < need:
		r.Fail("disk", fmt.Sprintf("%s are free in %s, %s may be needed: %s", Bytes(free), dir, Bytes(need), what), "free some, or move the folder to another disk")
	case free < 2*need:
		r.Warn("disk", fmt.Sprintf("%s are free in %s, %s may be needed: %s", Bytes(free), dir, Bytes(need), what), "free some, if other programs write there too")
	default:
		r.OK("disk", "%s are free, at most %s are needed: %s", Bytes(free), Bytes(need), what)
	}
}

// Bytes writes a number of bytes for people.
func Bytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d KiB", (n+1023)/1024)
}
