package dataset_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"concord/lab/dataset"
)

// TestHorizon: who had the event by the horizon is 1, who was seen after it without is
// 0, who was lost from sight before it is left out, and so is who has no institution.
func TestHorizon(t *testing.T) {
	dir := folder(t, map[string]string{"survival/lung.csv": strings.Join([]string{
		"inst,time,status,age,sex,ph.ecog,ph.karno,pat.karno,meal.cal,wt.loss",
		"3,365,2,60,1,1,90,100,1175,",   // dead on the day: 1
		"3,366,2,61,1,0,90,90,1225,15",  // dead the day after: 0
		"5,365,1,62,2,0,90,90,,15",      // seen alive on the day: 0
		"5,364,1,63,2,0,90,90,1000,15",  // lost the day before: out
		",400,1,64,2,0,90,90,1000,15",   // no institution: out
		"1,10,2,65,2,,90,90,1000,15",    // 1
		"1,1000,1,66,2,2,80,80,1000,15", // 0
	}, "\n") + "\n"})
	d, err := dataset.LoadSmall(dir, "lung-death")
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 0, 0, 1, 0}; !slices.Equal(d.Y.Labels, want) {
		t.Errorf("labels %v, want %v", d.Y.Labels, want)
	}
	if want := []string{"1", "3", "5"}; !slices.Equal(d.Groups, want) || !slices.Equal(d.Group, []int{1, 1, 2, 0, 0}) {
		t.Errorf("groups %v of %v", d.Group, d.Groups)
	}
	x, _ := d.Take([]int{0, 2, 3})
	age, loss, meal, ecog := slices.Index(d.Features, "age"), slices.Index(d.Features, "wt.loss"), slices.Index(d.Features, "meal.cal"), slices.Index(d.Features, "ph.ecog")
	if x.At(1, age) != 62 || !math.IsNaN(x.At(0, loss)) || !math.IsNaN(x.At(1, meal)) || !math.IsNaN(x.At(2, ecog)) {
		t.Error("a missing number does not stay missing, or rows are not in order")
	}
	if notes := strings.Join(d.Notes, " "); !strings.Contains(notes, "1 who were lost from sight") || !strings.Contains(notes, "1 rows that have none are left out") {
		t.Errorf("notes %q", notes)
	}
}

// TestContractLevels: every level has a column, and so have missing cells where there
// are any.
func TestContractLevels(t *testing.T) {
	header := "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,label\n"
	dir := folder(t, map[string]string{
		"adult/adult_train.csv.gz": header + "39,Private,1,A,13,m,,r,w,Male,0,0,40,US,0\n",
		"adult/adult_test.csv.gz":  header + "25,,1,B,7,m,c,r,w,Female,0,0,40,US,1\n",
	})
	d, err := dataset.LoadSmall(dir, "adult-levels")
	if err != nil {
		t.Fatal(err)
	}
	want := "age fnlwgt education_num capital_gain capital_loss hours_per_week workclass=Private workclass=(missing) education=A education=B marital_status=m occupation=c occupation=(missing) relationship=r race=w sex=Female sex=Male native_country=US"
	if got := strings.Join(d.Features, " "); got != want {
		t.Fatalf("features %s, want %s", got, want)
	}
	x, _ := d.Take([]int{0, 1})
	for _, c := range []struct {
		feature string
		first   float64
	}{{"workclass=Private", 1}, {"workclass=(missing)", 0}, {"education=A", 1}, {"occupation=(missing)", 1}, {"sex=Female", 0}} {
		j := slices.Index(d.Features, c.feature)
		if x.At(0, j) != c.first || x.At(1, j) != 1-c.first {
			t.Errorf("%s: %v and %v", c.feature, x.At(0, j), x.At(1, j))
		}
	}
	if !slices.Equal(d.Test, []int{1}) {
		t.Errorf("test rows %v", d.Test)
	}
}
