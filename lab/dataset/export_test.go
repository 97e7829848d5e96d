package dataset

import (
	"context"
	"io"
	"net/http"
)

// ReadCSV is Open of separated text.
func ReadCSV(r io.Reader, name string, opt Options) (*Data, error) {
	f, err := readCSV(r, name, opt.maxBytes(), opt.most)
	if err != nil {
		return nil, err
	}
	return f.code(opt)
}

// FetchFiles is Fetch of a set with these files.
func FetchFiles(ctx context.Context, dir string, files []File, client *http.Client) error {
	return published{Info: Info{Name: "test", Files: files, Source: "a test", Licence: "none"}}.fetch(ctx, dir, client)
}

// LoadSmall is Load without the check of rows and columns, for made tables.
func LoadSmall(dir, name string) (*Data, error) {
	set, err := find(name)
	if err != nil {
		return nil, err
	}
	d, err := set.load(dir)
	if err == nil {
		d.check()
	}
	return d, err
}
