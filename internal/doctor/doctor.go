// Package doctor looks for what would stop a study and says, for each thing, whether
// it is well, and if not why and what helps. Start with [Report.OK], [Report.Warn] and
// [Report.Fail], or with the examinations: [Network], [Folder], [Disk]. It changes
// nothing.
package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"concord/wire"
)

// Verdict is what came of one check.
type Verdict string

// The verdicts. Only Failed stops a study.
const (
	OK      Verdict = "ok"
	Warning Verdict = "warning"
	Failed  Verdict = "FAILED"
)

// Finding is one line of a report.
type Finding struct {
	// Check names what was looked at; it is stable, for programs.
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	// Found says what was seen, and of a warning or a failure its cause.
	Found string `json:"found"`
	Cure  string `json:"cure,omitempty"`
}

// Report collects findings in the order in which they were made.
type Report struct {
	Findings []Finding `json:"findings"`
}

// OK adds a check that found nothing wrong.
func (r *Report) OK(check, format string, args ...any) {
	r.add(check, OK, fmt.Sprintf(format, args...), "")
}

// Warn adds something that may become a trouble.
func (r *Report) Warn(check, found, cure string) { r.add(check, Warning, found, cure) }

// Fail adds a trouble.
func (r *Report) Fail(check, found, cure string) { r.add(check, Failed, found, cure) }

// Err adds a trouble that an error describes, with the error's own cure or another.
func (r *Report) Err(check string, err error, otherwise string) {
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		otherwise = h.Hint()
	}
	r.Fail(check, err.Error(), otherwise)
}

func (r *Report) add(check string, v Verdict, found, cure string) {
	r.Findings = append(r.Findings, Finding{check, v, wire.Printable(strings.ReplaceAll(found, "\n", "; ")), wire.Printable(cure)})
}

// Count is how many findings have a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, f := range r.Findings {
		if f.Verdict == v {
			n++
		}
	}
	return n
}

// Write writes the report for people, or as JSON, and returns an error if a check
// failed.
func (r *Report) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s\n", b); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			fmt.Fprintf(w, "%-8s %-12s %s\n", f.Verdict, f.Check, f.Found)
			if f.Cure != "" {
				fmt.Fprintf(w, "%-8s %-12s cure: %s\n", "", "", f.Cure)
			}
		}
	}
	if n := r.Count(Failed); n > 0 {
		return fmt.Errorf("%d of %d checks failed", n, len(r.Findings))
	}
	return nil
}
