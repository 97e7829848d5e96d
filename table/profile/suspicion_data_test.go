//go:build data

package profile

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"concord/contract"
)

// TestDataHonestHospitals counts suspicions among real sites: the hospitals of the eICU
// demo by region, by size, by both, and in ten and in a hundred groups, each column against the same column of
// all other sites. Nobody knows of a wrong unit in them.
func TestDataHonestHospitals(t *testing.T) {
	f, err := os.Open(filepath.Join(os.Getenv("CONCORD_DATA"), "eicu_demo", "eicu_demo_mortality.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	names, rows := records[0], records[1:]
	column := func(name string) int {
		for j, n := range names {
			if n == name {
				return j
			}
		}
		t.Fatalf("no column %s", name)
		return -1
	}
	region, size, hospital := column("region"), column("numbedscategory"), column("hospitalid")
	compared, alarms := 0, 0
	for _, by := range []func(row []string) string{
		func(row []string) string { return row[region] },
		func(row []string) string { return row[size] },
		func(row []string) string { return row[region] + " " + row[size] },
		func(row []string) string { return row[hospital][max(0, len(row[hospital])-1):] }, // ten groups
		func(row []string) string { return row[hospital][max(0, len(row[hospital])-2):] }, // a hundred
	} {
		sites := map[string][][]string{}
		for _, row := range rows {
			sites[by(row)] = append(sites[by(row)], row)
		}
		for j, name := range names {
			own, all, numeric := map[string]*Moments{}, Moments{}, true
			for site, of := range sites {
				own[site] = new(Moments)
				for _, row := range of {
					if row[j] == "" {
						continue
					}
					x, err := strconv.ParseFloat(row[j], 64)
					if err != nil {
						numeric = false
						break
					}
					own[site].Add(x)
					all.Add(x)
				}
			}
			if !numeric || strings.HasSuffix(name, "id") {
				continue
			}
			pooled := Side{N: float64(all.N()), Mean: all.Mean(), Variance: all.Variance()}
			for site, m := range own {
				if m.N() < leastCompared {
					continue
				}
				side := Side{N: float64(m.N()), Mean: m.Mean(), Variance: m.Variance()}
				rest, ok := pooled.Without(side)
				if !ok {
					continue
				}
				compared++
				if s := AgainstRest(contract.Feature{Name: name, Type: "numeric"}, side, rest); s != nil {
					alarms++
					t.Logf("%s of %q: %d values, mean %.4g, deviation %.4g against %.4g, %.4g: %+v", name, site, m.N(), side.Mean, m.Variance(), rest.Mean, rest.Variance, *s)
				}
			}
		}
	}
	t.Logf("%d alarms at %d columns of sites", alarms, compared)
	if alarms > compared/500 {
		t.Errorf("%d alarms at %d columns of real sites, want one in 500 at most", alarms, compared)
	}
}
