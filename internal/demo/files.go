package demo

import (
	"context"
	"path/filepath"
)

// nowhere is an address that no machine has (RFC 5737): with it nothing can connect.
const nowhere = "192.0.2.1:9"

// stick is the folder through which files go where nothing connects.
func (d *demo) stick() string { return filepath.Join(d.Dir, "stick") }

// outFile and backFile are a party's files on the stick.
func (d *demo) outFile(i int) string {
	return filepath.Join(d.stick(), filepath.Base(d.party(i))+"-out.parcel")
}

func (d *demo) backFile(i int) string {
	return filepath.Join(d.stick(), filepath.Base(d.party(i))+"-back.parcel")
}

// byFile lets a party's command write a file where nothing connects.
func (d *demo) byFile(i int, args ...string) []string {
	if !d.Files {
		return args
	}
	return append(args, "--to", d.outFile(i))
}

// exchange carries every party's file to the analyst and the answers back, where nothing
// connects.
func (d *demo) exchange(ctx context.Context) error {
	if !d.Files {
		return nil
	}
	take := []string{"take"}
	for i := range d.Parties {
		take = append(take, d.outFile(i))
	}
	if _, err := d.concordd(ctx, take...); err != nil {
		return err
	}
	for i := range d.Parties {
		if _, err := d.concordd(ctx, "give", "--to", hospitals[i], "--out", d.backFile(i)); err != nil {
			return err
		}
	}
	return d.everyParty(ctx, func(i int) []string { return []string{"take", d.backFile(i)} })
}
