package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"concord/internal/durable"
)

// Fetch puts the files of a published set into the data folder dir, from their
// homes, and makes sure of their content by its SHA-256. Files that are there
// with that content are left alone. A client of nil is http.DefaultClient.
//
// Errors: a name that is not known; no home with the file; a file that is there
// with another content, which is left as it is; a file without a home, which
// has to be put there by hand (the error says what it must contain); a simulated
// set, which needs no files.
func Fetch(ctx context.Context, dir, name string, client *http.Client) error {
	set, err := find(name)
	if err != nil {
		return err
	}
	return set.fetch(ctx, dir, client)
}

func (set published) fetch(ctx context.Context, dir string, client *http.Client) error {
	if len(set.Files) == 0 {
		return fmt.Errorf("dataset: %s is simulated, there is nothing to fetch", set.Name)
	}
	if client == nil {
		client = http.DefaultClient
	}
	var failed []error
	for _, file := range set.Files {
		if err := set.fetchFile(ctx, dir, file, client); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (set published) fetchFile(ctx context.Context, dir string, file File, client *http.Client) error {
	path := filepath.Join(dir, filepath.FromSlash(file.Path))
	there, err := os.ReadFile(path)
	switch {
	case err == nil && file.SHA256 == "":
		return nil // nothing to compare with
	case err == nil:
		if err := file.check(there); err != nil {
			return fmt.Errorf("dataset: %s: %s is there, but %w", set.Name, path, err)
		}
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("dataset: %w", err)
	case len(file.URLs) == 0:
		return fmt.Errorf("dataset: %s: %s has no home that serves it as it must be, put it there by hand: %s; %s", set.Name, path, set.whence(file), set.Licence)
	}
	var failed []error
	for _, url := range file.URLs {
		body, err := download(ctx, url, file.Size+file.Size/8+1<<16, client)
		if err == nil {
			err = file.check(body)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("dataset: %s: %s: %w", set.Name, url, err))
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		if err := durable.WriteFile(path, body, 0o666); err != nil {
			return fmt.Errorf("dataset: %w", err)
		}
		return nil
	}
	return errors.Join(failed...)
}

// download reads what is at a URL, at most so many bytes.
func download(ctx context.Context, url string, most int64, client *http.Client) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s", res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return body, nil
}

// check compares the content of a file, unpacked where its name ends in .gz.
func (file File) check(b []byte) error {
	r := io.Reader(bytes.NewReader(b))
	if strings.HasSuffix(file.Path, ".gz") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return err
		}
		r = z
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, file.Size+1))
	if err != nil {
		return err
	}
	if n != file.Size {
		return fmt.Errorf("its content is not of %d bytes", file.Size)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != file.SHA256 {
		return fmt.Errorf("its content has SHA-256 %s, must have %s", sum, file.SHA256)
	}
	return nil
}
