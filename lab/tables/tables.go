// Package tables makes the example of a study over tables as hospitals have them: four
// files of invented patients, each with defects of its own, the contract, and patients of
// later months.
//
// Start with [Write].
package tables

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

//go:embed study.yaml
var contract []byte

//go:embed README.md
var readme []byte

// A patient is one row. NaN and the empty text are missing.
type patient struct {
	id                                                      string
	birth                                                   time.Time
	sex, ward                                               string
	glucose, systolic, haemoglobin, creatinine, visits, bmi float64
	smoker                                                  string
	readmitted                                              bool
}

// A hospital says how its patients differ from others'.
type hospital struct {
	name             string
	rows             int
	age, glucose     float64    // means
	wards            [4]float64 // shares, in the order of wardNames
	noHaemoglobin    float64    // shares of missing cells
	noSmoker, noWard float64
}

var wardNames = [4]string{"cardiology", "internal", "neurology", "surgery"}

var hospitals = []hospital{
	{"north", 180, 66, 6.4, [4]float64{0.5, 0.3, 0.1, 0.1}, 0, 0, 0},
	{"east", 120, 58, 6.0, [4]float64{0.1, 0.5, 0.1, 0.3}, 0.12, 0.1, 0.04},
	{"south", 90, 62, 7.4, [4]float64{0.2, 0.6, 0.1, 0.1}, 0, 0.05, 0},
	{"west", 60, 54, 5.8, [4]float64{0.1, 0.2, 0.4, 0.3}, 0.05, 0, 0},
}

// later are patients of all four, after the study.
var later = hospital{"later", 400, 61, 6.4, [4]float64{0.25, 0.35, 0.2, 0.2}, 0.05, 0.03, 0.02}

// reference is the day by which ages count, as in study.yaml.
var reference = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (h hospital) patients(seed uint64) []patient {
	rnd := rand.New(rand.NewPCG(seed, 8))
	missing := func(v, share float64) float64 {
		if rnd.Float64() < share {
			return math.NaN()
		}
		return v
	}
	out := make([]patient, h.rows)
	for i := range out {
		age := clamp(h.age+13*rnd.NormFloat64(), 19, 99)
		male := rnd.Float64() < 0.5
		w, at := rnd.Float64(), 0
		for at < 3 && w > h.wards[at] {
			w -= h.wards[at]
			at++
		}
		smoker := rnd.Float64() < 0.27
		p := patient{
			id:          fmt.Sprintf("%c%04d", h.name[0]-'a'+'A', 1+rnd.IntN(9999)),
			birth:       reference.AddDate(0, 0, -int(age*365.2425)),
			sex:         map[bool]string{true: "male", false: "female"}[male],
			ward:        wardNames[at],
			glucose:     round(clamp(h.glucose*math.Exp(0.28*rnd.NormFloat64()), 2.5, 30), 1),
			systolic:    round(clamp(118+0.35*(age-50)+15*rnd.NormFloat64(), 75, 230), 0),
			haemoglobin: round(clamp(13.4+0.8*bit(male)-0.02*(age-60)+1.4*rnd.NormFloat64(), 6, 19), 1),
			creatinine:  round(clamp(78*math.Exp(0.3*rnd.NormFloat64()+0.006*(age-60)), 30, 900), 0),
			visits:      float64(min(int(rnd.ExpFloat64()*1.3), 20)),
			bmi:         round(clamp(26.5+4.5*rnd.NormFloat64(), 15, 55), 1),
			smoker:      map[bool]string{true: "true", false: "false"}[smoker],
		}
		risk := -1.0 + 0.045*(age-60) + 0.24*(p.glucose-6.3) - 0.32*(p.haemoglobin-13.6) + 0.011*(p.creatinine-80) +
			0.35*p.visits + 0.6*bit(smoker) + []float64{0.8, 0.2, -0.2, -0.7}[at] + 0.012*(p.systolic-122)
		p.readmitted = rnd.Float64() < 1/(1+math.Exp(-risk))
		p.haemoglobin = missing(p.haemoglobin, h.noHaemoglobin)
		if rnd.Float64() < h.noSmoker {
			p.smoker = ""
		}
		if rnd.Float64() < h.noWard {
			p.ward = ""
		}
		out[i] = p
	}
	distinct(out)
	return out
}

// distinct gives every patient an id of their own.
func distinct(all []patient) {
	seen := map[string]bool{}
	for i := range all {
		for n := 1; seen[all[i].id]; n++ {
			all[i].id = fmt.Sprintf("%c%04d", all[i].id[0], (i*97+n)%10000)
		}
		seen[all[i].id] = true
	}
}

func clamp(v, lo, hi float64) float64 { return max(lo, min(hi, v)) }

func round(v float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(v*p) / p
}

func bit(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// Columns in the contract's order.
var columns = []string{"patient", "birth", "sex", "ward", "glucose", "systolic", "haemoglobin", "creatinine", "visits", "bmi", "smoker", "readmitted"}

// cells are a patient's, in the order of columns; missing says what a missing one is.
func (p patient) cells(missing string) []string {
	number := func(v float64) string {
		if math.IsNaN(v) {
			return missing
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	text := func(s string) string {
		if s == "" {
			return missing
		}
		return s
	}
	return []string{
		p.id, p.birth.Format("2006-01-02"), p.sex, text(p.ward), number(p.glucose), number(p.systolic), number(p.haemoglobin),
		number(p.creatinine), number(p.visits), number(p.bmi), text(p.smoker), map[bool]string{true: "yes", false: "no"}[p.readmitted],
	}
}

// Write makes the folder dir, which must not be there or be empty:
//
//	north.csv          semicolons, decimal commas, a byte order mark
//	east.csv           other order of columns, missing cells called NA
//	south.csv.gz       compressed, every cell in quotes, glucose in mg/dL, one patient twice
//	south-mended.csv   what its people make of that
//	west.parquet       Parquet
//	later.csv          patients of later months, with what became of them
//	study.yaml         the contract
//	README.md          what is wrong with each
//
// The files are the same each time.
func Write(dir string) error {
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("tables: %s is not empty: name another folder, or delete it", dir)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all := make([][]patient, len(hospitals))
	for i, h := range hospitals {
		all[i] = h.patients(uint64(i + 1))
	}
	files := []struct {
		name string
		make func() ([]byte, error)
	}{
		{"north.csv", func() ([]byte, error) { return north(all[0]), nil }},
		{"east.csv", func() ([]byte, error) { return east(all[1]), nil }},
		{"south.csv.gz", func() ([]byte, error) { return south(all[2]) }},
		{"south-mended.csv", func() ([]byte, error) { return quoted(all[2], 1), nil }},
		{"west.parquet", func() ([]byte, error) { return west(all[3]) }},
		{"later.csv", func() ([]byte, error) { return plain(later.patients(9)), nil }},
		{"study.yaml", func() ([]byte, error) { return contract, nil }},
		{"README.md", func() ([]byte, error) { return readme, nil }},
	}
	for _, f := range files {
		b, err := f.make()
		if err != nil {
			return fmt.Errorf("tables: %s: %w", f.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, f.name), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func plain(all []patient) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, strings.Join(columns, ","))
	for _, p := range all {
		fmt.Fprintln(&b, strings.Join(p.cells(""), ","))
	}
	return b.Bytes()
}

// north is as a German spreadsheet saves it.
func north(all []patient) []byte {
	b := bytes.NewBufferString("\uFEFF" + strings.Join(columns, ";") + "\r\n")
	for _, p := range all {
		cells := p.cells("")
		for j, c := range cells {
			if columns[j] != "birth" && columns[j] != "patient" {
				cells[j] = strings.ReplaceAll(c, ".", ",")
			}
		}
		b.WriteString(strings.Join(cells, ";") + "\r\n")
	}
	return b.Bytes()
}

// east has the label first and everything else backwards.
func east(all []patient) []byte {
	var b bytes.Buffer
	write := func(cells []string) {
		for j := len(cells) - 1; j >= 0; j-- {
			b.WriteString(cells[j])
			if j > 0 {
				b.WriteByte(',')
			}
		}
		b.WriteByte('\n')
	}
	write(columns)
	for _, p := range all {
		write(p.cells("NA"))
	}
	return b.Bytes()
}

// milligrams are mg/dL of a mmol/L of glucose.
const milligrams = 18.016

func south(all []patient) ([]byte, error) {
	twice := append(append([]patient(nil), all...), all[41])
	var b bytes.Buffer
	z := gzip.NewWriter(&b) // without a time in its header: the same bytes each time
	if _, err := z.Write(quoted(twice, milligrams)); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// quoted has every cell in quotes, and glucose times a factor.
func quoted(all []patient, factor float64) []byte {
	var b bytes.Buffer
	write := func(cells []string) { b.WriteString(`"` + strings.Join(cells, `","`) + "\"\n") }
	write(columns)
	for _, p := range all {
		if factor != 1 {
			p.glucose = math.Round(p.glucose * factor)
		}
		write(p.cells(""))
	}
	return b.Bytes()
}

// row is a patient in Parquet.
type row struct {
	Patient     string   `parquet:"patient"`
	Birth       int32    `parquet:"birth,date"`
	Sex         string   `parquet:"sex,dict"`
	Ward        string   `parquet:"ward,dict"`
	Glucose     float64  `parquet:"glucose"`
	Systolic    int32    `parquet:"systolic"`
	Haemoglobin *float64 `parquet:"haemoglobin,optional"`
	Creatinine  float32  `parquet:"creatinine"`
	Visits      int64    `parquet:"visits"`
	BMI         float64  `parquet:"bmi"`
	Smoker      bool     `parquet:"smoker"`
	Readmitted  string   `parquet:"readmitted,dict"`
}

func west(all []patient) ([]byte, error) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.Compression(&parquet.Snappy))
	for _, p := range all {
		r := row{
			Patient: p.id, Birth: int32(p.birth.Unix() / 86400), Sex: p.sex, Ward: p.ward, Glucose: p.glucose, Systolic: int32(p.systolic),
			Creatinine: float32(p.creatinine), Visits: int64(p.visits), BMI: p.bmi, Smoker: p.smoker == "true", Readmitted: "no",
		}
		if !math.IsNaN(p.haemoglobin) {
			r.Haemoglobin = &p.haemoglobin
		}
		if p.readmitted {
			r.Readmitted = "yes"
		}
		if _, err := w.Write([]row{r}); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
