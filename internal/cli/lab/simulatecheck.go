package lab

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"concord/lab/dataset"
	"concord/metric"
	"concord/wire"
)

// missing names the flags that a simulation needs and that neither the command line
// nor a contract has.
func (f *simulateFlags) missing(given func(string) bool) error {
	var names []string
	s := &f.setting
	if s.Parties == 0 && s.Sizes == nil && s.Split != "by" && !given("parties") {
		names = append(names, "--parties, how many")
	}
	if s.Rows == 0 && s.Sizes == nil && s.Split != "by" && s.Split != "classes" && !given("rows") {
		names = append(names, "--rows, of each party")
	}
	if s.Test == 0 && !given("test") {
		names = append(names, "--test, rows to test with")
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("needed: %s (see concord-lab simulate --help)", strings.Join(names, "; "))
}

// checkFlags refuses what package lab would, by the names of the flags.
func (f *simulateFlags) checkFlags() error {
	for i, name := range f.setting.Metrics {
		if !slices.Contains(metric.Names(), name) {
			return fmt.Errorf("--metric is %q, want some of: %s", name, strings.Join(metric.Names(), ", "))
		}
		if slices.Contains(f.setting.Metrics[:i], name) {
			return fmt.Errorf("--metric has %s twice", name)
		}
	}
	if f.repeats.Count < 1 || f.repeats.Count > maxRepeat {
		return fmt.Errorf("--repeat is %d, must be from 1 to %d", f.repeats.Count, maxRepeat)
	}
	if f.repeats.Workers < 0 {
		return fmt.Errorf("--workers is %d, must not be negative", f.repeats.Workers)
	}
	return nil
}

// maxRepeat is the largest --repeat that package lab takes.
const maxRepeat = 1_000_000

// writable tells before anything is computed whether a result can be written to path,
// and that it would not take the place of something that is read. Empty and - are
// no files.
func writable(flag, path string, inputs ...string) error {
	if path == "" || path == "-" {
		return nil
	}
	there, err := os.Stat(path)
	if err == nil && !there.Mode().IsRegular() {
		return fmt.Errorf("%s %s: not a file", flag, path)
	}
	for _, in := range inputs {
		if in == "" {
			continue
		}
		info, errIn := os.Stat(in)
		if err == nil && errIn == nil && os.SameFile(there, info) || filepath.Clean(in) == filepath.Clean(path) {
			return fmt.Errorf("%s %s would be written over an input or the journal: name another file", flag, path)
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-")
	if err != nil {
		var cause *os.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return fmt.Errorf("%s %s: nothing can be written to the folder %s: %w", flag, path, filepath.Dir(path), err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// sameColumns compares the columns of a public table with those of the data, which
// they take the place of.
func sameColumns(path string, public, data *dataset.Data) error {
	for _, name := range data.Features {
		if !slices.Contains(public.Features, name) {
			return fmt.Errorf("%s: there is no column %q, or it does not vary; columns must be those of the data", path, name)
		}
	}
	for j, name := range public.Features {
		if j >= len(data.Features) || data.Features[j] != name {
			return fmt.Errorf("%s: column %q is not in its place; columns must be those of the data, in their order", path, name)
		}
	}
	return nil
}

// copiesNote tells of rows that are in a table more than once: models are then tested
// on rows that they were trained on. Few such rows are chance.
func copiesNote(d *dataset.Data) []string {
	n, _ := d.X.Dims()
	seed := maphash.MakeSeed()
	seen := make(map[uint64]bool, n)
	copies := 0
	for i := range n {
		x, y := d.Take([]int{i})
		var h maphash.Hash
		h.SetSeed(seed)
		for _, v := range x.RawRowView(0) {
			maphash.WriteComparable(&h, math.Float64bits(v))
		}
		if y.Classification() {
			maphash.WriteComparable(&h, y.Labels[0])
		} else {
			maphash.WriteComparable(&h, y.Values.At(0, 0))
		}
		if sum := h.Sum64(); seen[sum] {
			copies++
		} else {
			seen[sum] = true
		}
	}
	if copies*10 < n {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d rows are equal to an earlier one: if they are the same subjects, models are tested on rows that they were trained on, and all figures too good", copies, n)}
}

// packageNames stand in messages of packages for whoever calls them.
var packageNames = regexp.MustCompile(`(^|\n|: )(?:(?:lab|dataset|split|metric|contract|table|learn|fedavg|anchor|basis|align|experiment): )+`)

// plain takes the names of packages off a message; the cause stays.
func plain(err error) error {
	if err == nil {
		return nil
	}
	return &renamed{packageNames.ReplaceAllString(err.Error(), "$1"), err}
}

// interrupted says what an interruption leaves; other errors stay.
func interrupted(ctx context.Context, err error, hint string) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return wire.WithHint(errors.New("interrupted"), hint)
}
