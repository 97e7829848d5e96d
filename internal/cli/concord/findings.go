package concord

import (
	"fmt"
	"slices"
	"strings"

	"concord/party"
)

// marked counts the findings that somebody should think about.
func marked(r party.Report) int {
	n := 0
	for _, f := range r.Findings {
		if f.Warn {
			n++
		}
	}
	return n
}

// printFindings says what the report found, by whom it speaks against, what is marked
// first. Unless all are wanted, those that are not marked are only named, with their
// figures: whoever reads sixty lines reads none.
func (p *program) printFindings(r party.Report, all bool) {
	if len(r.Findings) == 0 {
		return
	}
	var order []string
	by := map[string][]party.Finding{}
	for _, f := range r.Findings {
		if by[f.Against] == nil {
			order = append(order, f.Against)
		}
		by[f.Against] = append(by[f.Against], f)
	}
	warned := func(list []party.Finding) bool {
		return slices.ContainsFunc(list, func(f party.Finding) bool { return f.Warn })
	}
	first := func(a, b bool) int { // what is marked comes first
		switch {
		case a && !b:
			return -1
		case b && !a:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b string) int { return first(warned(by[a]), warned(by[b])) })
	if marked(r) > 0 {
		p.printf("\n! marks what to think about before saying yes\n")
	} else {
		p.printf("\nno figure is marked, which does not say that nothing can be learned\n")
	}
	for _, against := range order {
		if !all && !warned(by[against]) {
			continue
		}
		p.printf("\nagainst %s:\n", against)
		slices.SortStableFunc(by[against], func(a, b party.Finding) int { return first(a.Warn, b.Warn) })
		for _, f := range by[against] {
			mark := "-"
			if f.Warn {
				mark = "!"
			}
			if all || f.Warn {
				p.printf("%s\n", wrapped(mark+" "+f.Text, 2, 100))
			}
		}
	}
	if all || marked(r) == len(r.Findings) {
		return
	}
	p.printf("\nnot marked; concord review --all says what they mean:\n")
	for _, against := range order {
		var names []string
		for _, f := range by[against] {
			if !f.Warn {
				names = append(names, fmt.Sprintf("%s %.3g", f.Name, f.Value))
			}
		}
		if names != nil {
			p.printf("%s\n", wrapped("- against "+against+": "+strings.Join(names, ", "), 2, 100))
		}
	}
}
