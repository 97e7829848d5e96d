package draft

import "strings"

// plausible are ranges that are often agreed on, by parts of a column's name: what a
// person may begin with. They come from textbooks' and monitors' limits, not from data,
// and bound what can occur in the sick, not what is normal.
var plausible = []struct {
	names []string // whole words of the name
	say   string
}{
	{[]string{"age", "alter"}, "[0, 120] in years"},
	{[]string{"weight", "gewicht"}, "[0.3, 400] in kg"},
	{[]string{"height", "groesse", "größe"}, "[30, 250] in cm"},
	{[]string{"bmi"}, "[5, 100] in kg/m²"},
	{[]string{"temp", "temperature", "temperatur"}, "[20, 45] in °C"},
	{[]string{"pulse", "hr", "heartrate"}, "[0, 350] a minute"},
	{[]string{"rr", "resprate", "respiratoryrate"}, "[0, 120] a minute"},
	{[]string{"sbp", "systolic", "sysbp"}, "[0, 350] in mmHg"},
	{[]string{"dbp", "diastolic", "diabp"}, "[0, 250] in mmHg"},
	{[]string{"map", "meanbp"}, "[0, 300] in mmHg"},
	{[]string{"spo2", "sao2"}, "[0, 100] in %"},
	{[]string{"fio2"}, "[21, 100] in %, or [0.21, 1]"},
	{[]string{"glucose", "glukose"}, "[0, 2000] in mg/dl, or [0, 110] in mmol/l"},
	{[]string{"creatinine", "kreatinin"}, "[0, 50] in mg/dl, or [0, 4500] in µmol/l"},
	{[]string{"bilirubin"}, "[0, 100] in mg/dl, or [0, 1700] in µmol/l"},
	{[]string{"bun"}, "[0, 300] in mg/dl, or [0, 110] in mmol/l"},
	{[]string{"urea", "harnstoff"}, "[0, 650] in mg/dl, or [0, 110] in mmol/l"},
	{[]string{"sodium", "natrium"}, "[80, 220] in mmol/l"},
	{[]string{"potassium", "kalium"}, "[0.5, 15] in mmol/l"},
	{[]string{"chloride", "chlorid"}, "[40, 180] in mmol/l"},
	{[]string{"calcium"}, "[2, 30] in mg/dl, or [0.5, 7.5] in mmol/l"},
	{[]string{"lactate", "laktat"}, "[0, 40] in mmol/l"},
	{[]string{"albumin"}, "[0.3, 8] in g/dl, or [3, 80] in g/l"},
	{[]string{"hemoglobin", "haemoglobin", "hb", "hgb"}, "[1, 28] in g/dl, or [10, 280] in g/l"},
	{[]string{"hematocrit", "haematocrit", "hct"}, "[3, 80] in %"},
	{[]string{"platelets", "plt"}, "[0, 3000] in 10⁹/l"},
	{[]string{"wbc", "leukocytes", "leukozyten"}, "[0, 600] in 10⁹/l"},
	{[]string{"ph"}, "[6.3, 8.2]"},
	{[]string{"paco2", "pco2"}, "[5, 200] in mmHg"},
	{[]string{"pao2", "po2"}, "[10, 760] in mmHg"},
	{[]string{"crp"}, "[0, 1000] in mg/l"},
	{[]string{"cholesterol", "chol"}, "[20, 1500] in mg/dl, or [0.5, 40] in mmol/l"},
	{[]string{"triglycerides"}, "[10, 15000] in mg/dl, or [0.1, 170] in mmol/l"},
	{[]string{"hba1c"}, "[3, 25] in %, or [10, 250] in mmol/mol"},
	{[]string{"inr"}, "[0.5, 30]"},
	{[]string{"gcs"}, "[3, 15]"},
}

// plausibleRange is what to propose for a column of this name, or "".
func plausibleRange(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" _-.()[]/", r) })
	joined := strings.Join(words, "")
	for _, p := range plausible {
		for _, part := range p.names {
			if joined == part {
				return p.say
			}
			for _, w := range words {
				if w == part {
					return p.say
				}
			}
		}
	}
	return ""
}
