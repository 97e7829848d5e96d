package dataset_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"concord/lab/dataset"
)

// folder writes files, gzip-compressed where their names end so.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		b := []byte(text)
		if strings.HasSuffix(name, ".gz") {
			b = gzipped(t, b)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestCoding has tables made by hand and what the experiments' codings make of
// them.
func TestCoding(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		set         string
		files       map[string]string
		features    []string
		rows        [][]float64
		classes     []string
		labels      []int
		values      []float64
		groups      []string
		group, test []int
	}{
		{
			set: "pima", // means of 100, 200 and of 60, 80; medians of 10, 20, 60, of 5, 7, of 30
			files: map[string]string{"pima_diabetes/pima.csv": "pregnant,glucose,pressure,triceps,insulin,mass,pedigree,age,label\n" +
				"0,0,60,10,5,0,0,50,1\n1,100,0,20,0,30,0.5,20,0\n2,200,80,0,7,30,0.25,30,0\n3,100,60,60,0,30,1,40,1\n"},
			features: []string{"pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"},
			rows: [][]float64{{0, 400. / 3, 60, 10, 5, 30, 0, 50}, {1, 100, 200. / 3, 20, 6, 30, 0.5, 20},
				{2, 200, 80, 20, 7, 30, 0.25, 30}, {3, 100, 60, 60, 6, 30, 1, 40}},
			classes: []string{"0", "1"}, labels: []int{1, 0, 0, 1},
		},
		{
			set: "colon", // the second row is of death, the third lacks nodes
			files: map[string]string{"survival/colon.csv": "id,study,rx,sex,age,obstruct,perfor,adhere,nodes,status,differ,extent,surg,node4,time,etype\n" +
				"1,1,Obs,1,43,0,0,0,5,1,2,3,0,1,1500,1\n1,1,Obs,1,43,0,0,0,5,1,2,3,0,1,1500,2\n" +
				"2,1,Lev,0,50,0,0,0,,1,2,3,0,1,10,1\n3,1,Lev+5FU,0,60,1,1,1,2,1,1,2,1,0,1499,1\n4,1,Lev,0,60,1,1,1,2,1,1,2,1,0,3000,1\n"},
			features: []string{"sex", "age", "obstruct", "perfor", "adhere", "nodes", "differ", "extent", "surg", "node4", "rx=Lev", "rx=Lev+5FU", "rx=Obs"},
			rows: [][]float64{{1, 43, 0, 0, 0, 5, 2, 3, 0, 1, 0, 0, 1}, {0, 60, 1, 1, 1, 2, 1, 2, 1, 0, 0, 1, 0},
				{0, 60, 1, 1, 1, 2, 1, 2, 1, 0, 1, 0, 0}},
			classes: []string{"0", "1"}, labels: []int{1, 0, 1},
		},
		{
			set: "veteran", // beyond 100 days, not from 100 days on
			files: map[string]string{"survival/veteran.csv": "trt,celltype,time,status,karno,diagtime,age,prior\n" +
				"1,squamous,100,1,60,7,69,0\n2,large,101,1,70,5,64,10\n"},
			features: []string{"karno", "diagtime", "age", "prior"},
			rows:     [][]float64{{60, 7, 69, 0}, {70, 5, 64, 10}},
			classes:  []string{"0", "1"}, labels: []int{0, 1},
		},
		{
			set: "mice",
			files: map[string]string{"mice_protein/mice_protein.csv.gz": "MouseID,P1,P2,Genotype,Treatment,Behavior,label\n" +
				"7_1,1,2,C,M,S,b\n7_2,,4,C,M,S,b\n3_1,4,,T,M,S,a\n"},
			features: []string{"P1", "P2"}, rows: [][]float64{{1, 2}, {2.5, 4}, {4, 3}},
			classes: []string{"a", "b"}, labels: []int{1, 1, 0}, groups: []string{"3", "7"}, group: []int{1, 1, 0},
		},
		{
			set: "adult", // a missing work class makes its first level a column, and test levels count
			files: map[string]string{
				"adult/adult_train.csv.gz": adultHeader + "39,Gov,7,HS,9,Single,Clerk,Own,A,Male,2174,0,40,US,0\n50,,8,BA,13,Married,Exec,Wife,B,Female,0,1,13,US,1\n",
				"adult/adult_test.csv.gz":  adultHeader + "20,Private,9,MA,14,Single,Clerk,Own,A,Male,0,0,20,CA,0\n",
			},
			features: []string{"age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week", "workclass=Gov", "workclass=Private",
				"education=HS", "education=MA", "marital_status=Single", "occupation=Exec", "relationship=Wife", "race=B", "sex=Male", "native_country=US"},
			rows: [][]float64{{39, 7, 9, 2174, 0, 40, 1, 0, 1, 0, 1, 0, 0, 0, 1, 1}, {50, 8, 13, 0, 1, 13, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1},
				{20, 9, 14, 0, 0, 20, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0}},
			classes: []string{"0", "1"}, labels: []int{0, 1, 0}, test: []int{2},
		},
	} {
		t.Run(tt.set, func(t *testing.T) {
			d, err := dataset.LoadSmall(folder(t, tt.files), tt.set)
			if err != nil {
				t.Fatal(err)
			}
			equal(t, "features", tt.features, d.Features)
			equal(t, "rows", tt.rows, rowsOf(d))
			equal(t, "classes", tt.classes, d.Y.Classes)
			equal(t, "labels", tt.labels, d.Y.Labels)
			equal(t, "groups", tt.groups, d.Groups)
			equal(t, "group", tt.group, d.Group)
			equal(t, "test", tt.test, d.Test)
		})
	}
}

const adultHeader = "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,hours_per_week,native_country,label\n"

func TestLengthOfStay(t *testing.T) {
	names := []string{"patientunitstayid", "hospitalid", "age", "male", "admissionheight", "admissionweight", "intubated", "vent", "dialysis",
		"eyes", "motor", "verbal", "wbc", "temperature", "respiratoryrate", "sodium", "heartrate", "meanbp", "hematocrit", "creatinine", "bun",
		"glucose", "electivesurgery", "diabetes", "immunosuppression", "metastaticcancer", "readmit", "label"}
	row := func(id, hospital, age, elective string) string {
		cells := make([]string, len(names))
		for j := range cells {
			cells[j] = "1"
		}
		cells[0], cells[1], cells[2], cells[22] = id, hospital, age, elective
		return strings.Join(cells, ",") + "\n"
	}
	files := map[string]string{
		"eicu_demo/eicu_demo_mortality.csv.gz": strings.Join(names, ",") + "\n" + row("12", "60", "30", "1") + row("11", "9", "", "") + row("13", "60", "50", ""),
		"eicu_demo/raw_patient.csv.gz":         "patientunitstayid,unitdischargeoffset\n11,1440\n12,720\n13,2880\n14,\n",
	}
	d, err := dataset.LoadSmall(folder(t, files), "eicu")
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "days", []float64{0.5, 1, 2}, d.Y.Values.RawMatrix().Data)
	equal(t, "groups", []string{"9", "60"}, d.Groups)
	equal(t, "group", []int{1, 0, 1}, d.Group)
	x, _ := d.Take([]int{1})
	if age, elective := x.At(0, 0), x.At(0, 20); age != 40 || elective != 0 {
		t.Errorf("age %v, elective surgery %v, want 40 and 0", age, elective)
	}
	files["eicu_demo/raw_patient.csv.gz"] = "patientunitstayid,unitdischargeoffset\n12,1440\n13,1440\n"
	if _, err := dataset.LoadSmall(folder(t, files), "eicu"); err == nil || !strings.Contains(err.Error(), "row 2: the stay has no length") {
		t.Errorf("error %v", err)
	}
}

func TestCodingRefused(t *testing.T) {
	for _, tt := range []struct{ set, file, text, want string }{
		{"pima", "pima_diabetes/pima.csv", "glucose\n", `there is no column "label"`},
		{"pima", "pima_diabetes/pima.csv", "glucose,label\n1,\n", `line 2, column 2 ("label"): the label is missing`},
		{"pima", "pima_diabetes/pima.csv", "glucose,label\n", "there are no rows"},
		{"wdbc", "breast_cancer_wdbc/wdbc.csv", "a,label\n1,1\nsecret,0\n", `line 3, column 1 ("a"): must be a number`},
		{"kidney", "survival/kidney.csv", "age,sex,frail,disease\n1,1,1,GN\n", `there is no column "time"`},
		{"mice", "mice_protein/mice_protein.csv.gz", "MouseID,P1,Genotype,Treatment,Behavior,label\n,1,C,M,S,b\n", `column 1 ("MouseID"): the mouse is missing`},
	} {
		_, err := dataset.LoadSmall(folder(t, map[string]string{tt.file: tt.text}), tt.set)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v, want one with %q", tt.set, err, tt.want)
		}
	}
}

// TestPicturesRefused: pictures and labels of another number, size or class.
func TestPicturesRefused(t *testing.T) {
	t.Parallel()
	idx := func(body string, shape ...byte) string {
		b := []byte{0, 0, 8, byte(len(shape))}
		for _, n := range shape {
			b = append(b, 0, 0, n>>4, n<<4) // times 16
		}
		return string(b) + body
	}
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	faces, labels := idx(zeros(400*64*64), 25, 4, 4), idx(zeros(400), 25)
	for want, files := range map[string][2]string{
		"":                            {faces, labels},
		"IDX of 2048 numbers a row":   {idx(zeros(400*32*64), 25, 2, 4), labels},
		"CSV, separated by commas":    {"a,b\n1,2\n", labels},
		"the file of the labels has":  {faces, idx(zeros(384), 24)},
		"384 rows, must be 400":       {idx(zeros(384*64*64), 24, 4, 4), idx(zeros(384), 24)},
		"the file ends there":         {faces[:len(faces)-1], labels},
		"more data follow":            {faces + "\x00", labels},
		"label of row 3 is not below": {faces, idx("\x00\x27\x28"+zeros(397), 25)},
	} {
		_, err := dataset.LoadSmall(folder(t, map[string]string{
			"olivetti_faces/faces-images-idx3-ubyte.gz": files[0], "olivetti_faces/faces-labels-idx1-ubyte.gz": files[1]}), "olivetti")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
