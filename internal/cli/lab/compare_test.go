package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompare: a site's predictions are judged on the same rows as its own model and the
// central one; what does not fit is refused with names.
func TestCompare(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	dir := filepath.Join(t.TempDir(), "tables")
	if code, out, errs := runLab(t.Context(), "data", "tables", dir); code != 0 || !strings.Contains(out, "four tables") {
		t.Fatalf("data tables: %d, %s%s", code, out, errs)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	base := []string{"compare", at("study.yaml"), at("later.csv"), "North=" + at("north.csv"), "East=" + at("east.csv"), "--decimal-comma", "North"}
	code, out, errs := runLab(t.Context(), base...)
	if code != 0 || !strings.Contains(out, "On 400 rows nobody trained on") || strings.Contains(out, "together") {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	// Perfect predictions of East, made of the labels.
	later, err := os.ReadFile(at("later.csv"))
	if err != nil {
		t.Fatal(err)
	}
	scores := "line,readmitted,score no,score yes\n"
	for i, line := range strings.Split(strings.TrimSpace(string(later)), "\n")[1:] {
		if strings.HasSuffix(line, ",yes") {
			scores += fmt.Sprintf("%d,yes,0,1\n", i+2)
		} else {
			scores += fmt.Sprintf("%d,no,1,0\n", i+2)
		}
	}
	path := filepath.Join(dir, "scores.csv")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(scores)
	code, out, errs = runLab(t.Context(), append(base, "--predicted", "East="+path)...)
	if code != 0 || strings.Count(out, " 1.0000") != 2 || !strings.Contains(out, "together") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--predicted", "South=" + path}, 2, `there is no site "South"`},
		{[]string{"North=" + at("east.csv")}, 2, `two tables of "North"`},
		{[]string{"South"}, 2, `"South" is not NAME=FILE`},
		{[]string{"South=" + at("south.csv.gz")}, 1, "glucose"},
		{[]string{"South=" + at("absent.csv")}, 1, "absent.csv"},
	} {
		if code, _, errs := runLab(t.Context(), append(base, tt.args...)...); code != tt.code || !strings.Contains(errs, tt.want) {
			t.Errorf("%v: %d, %s, want %d and %q", tt.args, code, errs, tt.code, tt.want)
		}
	}
	write(strings.Replace(scores, ",1,0\n", ",1,NaN\n", 1))
	if code, _, errs := runLab(t.Context(), append(base, "--predicted", "East="+path)...); code != 1 || !strings.Contains(errs, "is no number") {
		t.Errorf("a score that is no number: %d, %s", code, errs)
	}
	write("line,readmitted,score no,score yes\n2,no,1,0\n")
	if code, _, errs := runLab(t.Context(), append(base, "--predicted", "East="+path)...); code != 1 || !strings.Contains(errs, "has 2 lines of 4 columns, want 401 of 4") {
		t.Errorf("predictions of other rows: %d, %s", code, errs)
	}
}
