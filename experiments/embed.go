// Package experiments holds the published experiments E1 to E8 as declarative
// files, with the published figures beside the settings, and E9 to E11, our own.
// Package lab/experiment reads and runs them; concord-lab reproduce is the command.
package experiments

import "embed"

// Files are E1.yaml and so on.
//
//go:embed *.yaml
var Files embed.FS
