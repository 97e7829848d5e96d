// Package build says which build of Concord a process runs.
package build

import (
	"runtime/debug"
	"strings"
)

// Program is what the build recorded of itself, on one line.
func Program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	text := info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && !strings.Contains(text, s.Value[:min(12, len(s.Value))]):
			text += " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.Contains(text, "dirty"):
			text += " modified"
		}
	}
	return text + ", " + info.GoVersion
}
