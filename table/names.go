package table

import (
	"strings"

	"concord/contract"
)

// Names returns the names of a file's columns, as far as [Open] would read them: what a
// site looks at to tell which view of the contract a file has.
func Names(path string, c *contract.Contract, opt Options) ([]string, error) {
	src, _, err := open(path, c.Whole(), opt)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var names []string
	for _, column := range src.Columns() {
		names = append(names, strings.TrimSpace(column.Name))
	}
	return names, nil
}
