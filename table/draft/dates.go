package draft

import (
	"strings"
	"time"
)

// dates counts cells by the layouts of dates in which they can be read.
type dates struct {
	iso      int64 // 2006-01-02
	isoTime  int64 // the same and a time of day
	dots     int64 // 02.01.2006
	dayFirst int64 // 02/01/2006
	monFirst int64 // 01/02/2006
	slashes  int64 // either or both
	short    bool  // some have days or months of one digit, which DD and MM do not read
}

func (d *dates) add(cell []byte) {
	if len(cell) < 8 || len(cell) > 35 || cell[0] < '0' || cell[0] > '9' {
		return
	}
	text := string(cell)
	reads := func(layout string) int64 {
		if _, err := time.Parse(layout, text); err != nil {
			return 0
		}
		return 1
	}
	switch {
	case len(text) == 10 && text[4] == '-':
		d.iso += reads("2006-01-02")
	case len(text) > 10 && text[4] == '-':
		d.isoTime += max(reads("2006-01-02 15:04"), reads("2006-01-02 15:04:05"), reads(time.RFC3339), reads("2006-01-02T15:04:05"))
	case text[1] == '.' || text[2] == '.':
		d.dots += reads("2.1.2006")
		d.short = d.short || reads("2.1.2006") > reads("02.01.2006")
	case text[1] == '/' || text[2] == '/':
		day, month := reads("2/1/2006"), reads("1/2/2006")
		d.dayFirst += day
		d.monFirst += month
		d.short = d.short || day > reads("02/01/2006") || month > reads("01/02/2006")
		d.slashes += max(day, month)
	}
}

// layout says in which layout all n cells are dates, as contracts spell it. It is "" if
// they are no dates, with a question to the person where they are but it cannot be told
// which.
func (d *dates) layout(n int64) (layout, question string) {
	switch {
	case n == 0:
	case d.iso == n:
		return "YYYY-MM-DD", ""
	case d.isoTime == n, d.iso+d.isoTime == n:
		return "", "dates with a time of day: write the dates alone, as YYYY-MM-DD"
	case d.dots == n:
		return d.digits("DD.MM.YYYY"), ""
	case d.slashes == n && d.dayFirst == n && d.monFirst == n:
		return "", "dates of which nothing here says whether day or month comes first: say layout: DD/MM/YYYY or MM/DD/YYYY, or write them as YYYY-MM-DD"
	case d.slashes == n && d.monFirst == n:
		return d.digits("MM/DD/YYYY"), ""
	case d.slashes == n && d.dayFirst == n:
		return d.digits("DD/MM/YYYY"), ""
	case d.slashes == n:
		return "", "dates, some with the day first and some with the month first: write all as YYYY-MM-DD"
	}
	return "", ""
}

// mostly is the layout in which nine tenths of n cells are dates, where there is no doubt
// which; otherwise "".
func (d *dates) mostly(n int64) string {
	switch {
	case 10*d.iso >= 9*n:
		return "YYYY-MM-DD"
	case 10*d.dots >= 9*n:
		return d.digits("DD.MM.YYYY")
	}
	return ""
}

// digits is a layout that reads days and months of one digit too, where there are some.
func (d *dates) digits(layout string) string {
	if d.short {
		return strings.NewReplacer("DD", "D", "MM", "M").Replace(layout)
	}
	return layout
}
