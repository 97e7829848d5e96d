package dataset

import (
	"math"
	"path"
)

// loadPima codes the Pima Indians diabetes set as MM does: a zero where
// none can be is a missing number, replaced by the mean over all rows for
// glucose and blood pressure, and by the median for skin fold, insulin and body
// mass index.
func loadPima(dir string) (*Data, error) {
	f, err := tableOf(dir, "pima_diabetes/pima.csv")
	if err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers(f.others("label")...)
	fills := map[string]func([]float64) float64{
		"glucose": mean, "pressure": mean, "triceps": median, "insulin": median, "mass": median,
	}
	for j, name := range c.names {
		fill := fills[name]
		if fill == nil {
			continue
		}
		for i, v := range c.cols[j] {
			if v == 0 {
				c.cols[j][i] = math.NaN()
			}
		}
		imputed(c.cols[j], fill)
	}
	return c.data(nil, c.label("label"), 1,
		"Zeros in glucose, pressure, triceps, insulin and mass are missing values: the mean over all rows stands for glucose and pressure, the median for the others.")
}

// loadHeart codes the 1025-row heart disease set: five numbers, and eight
// categories without their first level. The m = 22 of MM needs ca, the number
// of vessels, to be a category too:
//
//	m = 5 + sex 1 + cp 3 + fbs 1 + restecg 2 + exang 1 + slope 2 + ca 4 + thal 3 = 22
func loadHeart(dir string) (*Data, error) {
	f, err := tableOf(dir, "heart_kaggle1025/heart.csv")
	if err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers("age", "trestbps", "chol", "thalach", "oldpeak")
	c.levels(1, "sex", "cp", "fbs", "restecg", "exang", "slope", "ca", "thal")
	return c.data(nil, c.label("label"), 1,
		"sex, cp, fbs, restecg, exang, slope, ca and thal are categories, one-hot without the first level.",
		"Only 302 of the 1025 rows are distinct, so copies of test rows are trained on.")
}

// A survivalSet is one of the tables of R's package survival, with a label made
// from the survival time ([imakura2023], table 7).
type survivalSet struct {
	file   string
	days   float64 // label 1 from this time on
	over   bool    // label 1 only beyond it
	only   string  // a column that must be 1; "" for all rows
	number []string
	levels []string
	skip   int // levels left out of each category
	notes  []string
}

// load keeps the rows without a missing cell in any column of the file.
func (s survivalSet) load(dir string) (*Data, error) {
	f, err := tableOf(dir, path.Join("survival", s.file))
	if err != nil {
		return nil, err
	}
	c := &coding{frame: f}
	c.numbers(s.number...)
	c.levels(s.skip, s.levels...)
	time := c.want("time")
	if s.only != "" {
		c.want(s.only)
	}
	if c.err != nil {
		return nil, c.err
	}
	var rows []int
	var is []bool
	for i := range f.n {
		whole := s.only == "" || f.column(s.only).numbers[i] == 1
		for _, col := range f.columns {
			whole = whole && col.codes[i] >= 0
		}
		if t := time.numbers[i]; whole {
			rows = append(rows, i)
			is = append(is, t > s.days || t == s.days && !s.over)
		}
	}
	return c.data(rows, binary(is), 1, s.notes...)
}

var (
	colon = survivalSet{
		file: "colon.csv", days: 1500, only: "etype",
		number: []string{"sex", "age", "obstruct", "perfor", "adhere", "nodes", "differ", "extent", "surg", "node4"},
		levels: []string{"rx"},
		notes:  []string{"Label 1: time >= 1500 days. Rows of recurrence (etype 1) without missing cells; rx is one-hot with all three levels."},
	}
	kidney = survivalSet{
		file: "kidney.csv", days: 100, skip: 1,
		number: []string{"age", "sex", "frail"},
		levels: []string{"disease"},
		notes:  []string{"Label 1: time >= 100 days. disease is one-hot without the first level, which makes 6 features."},
	}
	lung = survivalSet{
		file: "lung.csv", days: 400,
		number: []string{"age", "sex", "ph.ecog", "ph.karno", "pat.karno", "meal.cal", "wt.loss"},
		notes:  []string{"Label 1: time >= 400 days. Rows without missing cells; the institution and the status are no features."},
	}
	pbc = survivalSet{
		file: "pbc.csv", days: 2000, skip: 1,
		number: []string{"trt", "age", "ascites", "hepato", "spiders", "edema", "bili", "chol", "albumin", "copper", "alk.phos", "ast", "trig", "platelet", "protime", "stage"},
		levels: []string{"sex"},
		notes:  []string{"Label 1: time >= 2000 days. Rows without missing cells; the status is no feature."},
	}
	veteran = survivalSet{
		file: "veteran.csv", days: 100, over: true,
		number: []string{"karno", "diagtime", "age", "prior"},
		notes:  []string{"Label 1: time > 100 days. The 4 features are those known of the patient; treatment and cell type are left out."},
	}
)
