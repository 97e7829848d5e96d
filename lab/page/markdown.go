package page

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"concord/internal/sitepage"
)

// Markdown writes the page as GitHub Flavored Markdown (github.github.com/gfm):
// tables with pipes, figures as images by their names. Nothing is written if there
// is an error.
func (p Page) Markdown(w io.Writer) error {
	if err := p.check(); err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n", plain(p.Title))
	for _, text := range paragraphs(p.Lead) {
		fmt.Fprintf(&b, "\n%s\n", paragraph(text))
	}
	if len(p.Facts) > 0 {
		facts := Table{Columns: []string{"Setting", "Value"}}
		for _, f := range p.Facts {
			facts.Rows = append(facts.Rows, Row{Cells: f[:]})
		}
		facts.markdown(&b)
	}
	number := 0
	for _, s := range p.Sections {
		fmt.Fprintf(&b, "\n## %s\n", plain(s.Title))
		for _, text := range paragraphs(s.Text) {
			fmt.Fprintf(&b, "\n%s\n", paragraph(text))
		}
		if s.Table != nil {
			s.Table.markdown(&b)
		}
		for _, f := range s.Figures {
			number++
			// An image has no caption in Markdown: it follows as text.
			fmt.Fprintf(&b, "\n![Figure %d](%s)\n\nFigure %d. %s\n", number, f.Name, number, plain(f.Caption))
		}
	}
	if len(p.Notes) > 0 {
		b.WriteString("\n## Notes\n")
		for _, note := range p.Notes {
			for _, text := range paragraphs(note) {
				fmt.Fprintf(&b, "\n%s\n", paragraph(text))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (t Table) markdown(b *bytes.Buffer) {
	if sitepage.Tidy(t.Caption) != "" {
		fmt.Fprintf(b, "\n%s\n", paragraph(sitepage.Tidy(t.Caption)))
	}
	b.WriteByte('\n')
	marked := t.Marked()
	write := func(cells []string, mark string) {
		for _, c := range cells {
			fmt.Fprintf(b, "| %s ", plain(c))
		}
		if marked {
			fmt.Fprintf(b, "| %s ", mark)
		}
		b.WriteString("|\n")
	}
	write(t.Columns, markColumn)
	for i := range t.Columns {
		if t.numeric(i) {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	if marked {
		b.WriteString("|---")
	}
	b.WriteString("|\n")
	for _, r := range t.Rows {
		write(r.Cells, signs[r.Mark])
	}
}

// special are characters that may mean something within a line, each as what means
// itself in a table's cell too. Dollars are mathematics to GitHub.
var special = map[rune]string{
	'\\': `\\`, '`': "\\`", '*': `\*`, '_': `\_`, '[': `\[`, ']': `\]`, '|': `\|`, '~': `\~`, '#': `\#`,
	'&': "&amp;", '<': "&lt;", '>': "&gt;", '$': "&#36;",
}

// plain is one line of Markdown that reads as the given text.
func plain(s string) string {
	var b strings.Builder
	runes := []rune(sitepage.Tidy(s))
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		safe, ok := special[r]
		switch {
		case r == '_' && word(i-1) && word(i+1), !ok: // within a word it means nothing
			b.WriteRune(r)
		default:
			b.WriteString(safe)
		}
	}
	return b.String()
}

// block is what begins a list, a rule or an underlined heading at the start of a
// line; quotes, fences and headings begin with characters that plain escapes.
var block = regexp.MustCompile(`^([-+=:]|[0-9]{1,9}[.)])`)

// paragraph is plain for the start of a line.
func paragraph(s string) string {
	s = plain(s)
	if at := block.FindStringIndex(s); at != nil {
		s = s[:at[1]-1] + `\` + s[at[1]-1:]
	}
	return s
}
