package chaos

import (
	"fmt"
	"os"
	"path/filepath"
)

// Programs are the two that play a study, and variables for their environment.
type Programs struct {
	Concord, Concordd string
	Env               []string
}

// In finds the programs in a folder.
func In(dir string) (Programs, error) {
	p := Programs{Concord: filepath.Join(dir, "concord"), Concordd: filepath.Join(dir, "concordd")}
	for _, path := range []string{p.Concord, p.Concordd} {
		if _, err := os.Stat(path); err != nil {
			return p, fmt.Errorf("the programs that play the study are not here: %w", err)
		}
	}
	return p, nil
}
