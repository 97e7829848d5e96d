package profile

import (
	"slices"
	"strings"
)

// Conversion is one way in which a column gets written in another unit:
//
//	written = Factor · meant + Offset
type Conversion struct {
	// Name says which units, one side and the other: "mmol/l and mg/dl (glucose)".
	Name   string
	Factor float64
	Offset float64
	of     quantity
	about  []string // parts of names of columns for which it is likelier
}

// back turns what is written into what is meant.
func (c Conversion) back(x float64) float64 { return (x - c.Offset) / c.Factor }

// inverse is the conversion the other way.
func (c Conversion) inverse() Conversion {
	c.Factor, c.Offset = 1/c.Factor, 0-c.Offset/c.Factor
	return c
}

// quantity is what a unit measures, as far as its spelling tells.
type quantity int

const (
	anything quantity = iota // or not known
	mass
	length
	temperature
	pressure
	duration
	concentration
	share
	other // a unit that is known to be none of these
)

// conversions are the usual ones, in the direction that makes numbers larger. Their
// inverses count too.
var conversions = []Conversion{
	{Name: "a thousandth of the unit (mg and g, m and km, ml and l)", Factor: 1000},
	{Name: "a hundredth of the unit (per cent and fractions, cm and m)", Factor: 100},
	{Name: "a tenth of the unit (mm and cm, g/l and g/dl)", Factor: 10},
	{Name: "a millionth of the unit (µg and g, /µl and /l)", Factor: 1e6},
	{Name: "pounds and kilograms", Factor: 2.2046226, of: mass},
	{Name: "ounces and kilograms", Factor: 35.273962, of: mass},
	{Name: "centimetres and inches", Factor: 2.54, of: length},
	{Name: "centimetres and feet", Factor: 30.48, of: length},
	{Name: "inches and metres", Factor: 39.370079, of: length},
	{Name: "degrees Fahrenheit and Celsius", Factor: 1.8, Offset: 32, of: temperature},
	{Name: "kelvins and degrees Celsius", Factor: 1, Offset: 273.15, of: temperature},
	{Name: "mmHg and kPa", Factor: 7.5006168, of: pressure},
	{Name: "mmHg and hPa", Factor: 0.75006168, of: pressure},
	{Name: "months and years", Factor: 12, of: duration},
	{Name: "days and years", Factor: 365.25, of: duration},
	{Name: "days and months", Factor: 30.4375, of: duration},
	{Name: "days and weeks", Factor: 7, of: duration},
	{Name: "hours and days", Factor: 24, of: duration},
	{Name: "minutes and hours, or seconds and minutes", Factor: 60, of: duration},
	{Name: "minutes and days", Factor: 1440, of: duration},
	{Name: "mg/dl and mmol/l (glucose)", Factor: 18.016, of: concentration, about: []string{"gluc", "gluk", "sugar", "zucker"}},
	{Name: "µmol/l and mg/dl (creatinine)", Factor: 88.42, of: concentration, about: []string{"creat", "krea"}},
	{Name: "µmol/l and mg/dl (bilirubin)", Factor: 17.104, of: concentration, about: []string{"bili"}},
	{Name: "mg/dl and mmol/l (cholesterol)", Factor: 38.67, of: concentration, about: []string{"chol", "hdl", "ldl"}},
	{Name: "mg/dl and mmol/l (triglycerides)", Factor: 88.57, of: concentration, about: []string{"trig"}},
	{Name: "mg/dl and mmol/l (urea nitrogen)", Factor: 2.8, of: concentration, about: []string{"bun", "urea", "harnst"}},
	{Name: "urea and urea nitrogen", Factor: 2.14, of: concentration, about: []string{"bun", "urea", "harnst"}},
	{Name: "mg/dl and mmol/l (calcium)", Factor: 4.008, of: concentration, about: []string{"calc", "kalz"}},
	{Name: "mg/dl and mmol/l (magnesium)", Factor: 2.4305, of: concentration, about: []string{"magn"}},
	{Name: "mg/dl and mmol/l (phosphate)", Factor: 3.097, of: concentration, about: []string{"phos"}},
	{Name: "µmol/l and mg/dl (uric acid)", Factor: 59.48, of: concentration, about: []string{"uric", "urate", "harns"}},
	{Name: "mg/dl and mmol/l (lactate)", Factor: 9.008, of: concentration, about: []string{"lact", "lakt"}},
	{Name: "g/dl and mmol/l (haemoglobin)", Factor: 1.6114, of: concentration, about: []string{"hemo", "haemo", "hämo", "hgb", "hb"}},
}

// units are the spellings, in lower case, by which a quantity is known.
var units = map[quantity][]string{
	mass:        {"kg", "g", "mg", "µg", "ug", "lb", "lbs", "oz", "pound", "pounds", "kilogram", "kilograms", "gram", "grams"},
	length:      {"m", "cm", "mm", "km", "in", "inch", "inches", "ft", "feet"},
	temperature: {"°c", "c", "°f", "f", "k", "degc", "degf", "celsius", "fahrenheit", "kelvin", "deg c", "deg f"},
	pressure:    {"mmhg", "mm hg", "kpa", "hpa", "mbar", "torr", "cmh2o", "bar", "pa"},
	duration:    {"year", "years", "yr", "y", "a", "month", "months", "mo", "week", "weeks", "day", "days", "d", "hour", "hours", "h", "min", "minute", "minutes", "s", "sec", "second", "seconds", "ms"},
	share:       {"%", "percent", "per cent", "fraction"},
}

// quantityOf reads a unit's spelling; without one it is anything.
func quantityOf(unit string) quantity {
	unit = strings.ToLower(strings.TrimSpace(unit))
	if unit == "" {
		return anything
	}
	for q, spellings := range units {
		if slices.Contains(spellings, unit) {
			return q
		}
	}
	unit = strings.NewReplacer("μ", "µ", "liter", "l", "litre", "l").Replace(unit) // the Greek letter and the micro sign
	before, after, divided := strings.Cut(unit, "/")
	if divided && slices.Contains([]string{"l", "dl", "ml", "cl", "µl", "ul"}, after) &&
		(strings.HasSuffix(before, "g") || strings.HasSuffix(before, "mol")) {
		return concentration
	}
	return other
}

// conversionsFor are the conversions, both ways, that a column of this name and unit may
// have gone through: those of its quantity, and those of any; where the unit is not
// given, all. A conversion of one substance counts for columns whose name has part of
// its name, or else, where no substance is recognised, for all concentrations.
func conversionsFor(name, unit string) []Conversion {
	q := quantityOf(unit)
	known := slices.ContainsFunc(conversions, func(c Conversion) bool { return c.isAbout(name) })
	var list []Conversion
	for _, c := range conversions {
		if c.of != anything && q != anything && c.of != q {
			continue
		}
		if known && c.of != anything && !c.isAbout(name) {
			continue
		}
		list = append(list, c, c.inverse())
	}
	return list
}

// isAbout reports whether a column's name speaks for the conversion.
func (c Conversion) isAbout(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(c.about, func(part string) bool { return strings.Contains(name, part) })
}

// rank orders conversions that fit a column of this name: 0 where the name speaks for
// it, 1 for units of its own quantity and those of any, 2 for one substance of many.
func (c Conversion) rank(name string) int {
	switch {
	case c.isAbout(name):
		return 0
	case c.about == nil:
		return 1
	}
	return 2
}
