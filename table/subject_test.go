package table_test

import (
	"fmt"
	"strings"
	"testing"

	"concord/contract"
	"concord/table"
)

func withSubject() *contract.Contract {
	c := newContract()
	c.Subject = "patient"
	return c
}

// TestPeople: rows of one subject are one person, whatever their number; without a
// subject a row is a person.
func TestPeople(t *testing.T) {
	const rows = `63,27.5,80,benign
41,22,61.25,malignant
63,27.5,80,benign
20,20,60,benign
`
	if got := read(t, "age,bmi,kg,outcome\n"+rows, newContract(), table.Options{}).People(); got != 4 {
		t.Errorf("without a subject there are %d people, want 4", got)
	}
	var text strings.Builder
	text.WriteString("age,bmi,patient,kg,outcome\n")
	for i, row := range strings.Split(strings.TrimSpace(rows), "\n") {
		cells := strings.Split(row, ",")
		fmt.Fprintf(&text, "%s,%s, %s ,%s,%s\n", cells[0], cells[1], []string{"Q71", "Q72", "Q71", "Q73"}[i], cells[2], cells[3])
	}
	got := read(t, text.String(), withSubject(), table.Options{})
	if got.People() != 3 || got.Rows() != 4 {
		t.Errorf("%d people in %d rows, want 3 in 4", got.People(), got.Rows())
	}
	if sub := got.Subset([]int{0, 2}); sub.People() != 1 {
		t.Errorf("two rows of one subject are %d people", sub.People())
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if out := fmt.Sprintf(verb, got) + fmt.Sprintf(verb, struct{ t *table.Table }{got}); strings.Contains(out, "Q7") {
			t.Errorf("%s prints a subject", verb)
		}
	}
	// New rows need none, and may have one.
	read(t, text.String(), withSubject(), table.Options{Label: table.Optional})
	read(t, "age,bmi,kg\n63,27.5,80\n", withSubject(), table.Options{Label: table.Optional})
}

func TestSubjectErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"age,bmi,kg,outcome\n63,27.5,80,benign\n", "a column is missing: patient"},
		{"age,bmi,kg,outcome,patient\n63,27.5,80,benign,\n", "line 2, column 5 (patient): the cell is empty"},
		{"age,bmi,kg,outcome,patient\n63,27.5,80,oops,Q71\n", "none of the contract's classes"},
		{"a,b\n1,2\n", "none of the contract's 5 columns"},
	} {
		_, err := table.ReadCSV(strings.NewReader(c.text), "patients.csv", withSubject(), table.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		} else if strings.Contains(err.Error(), "Q71") {
			t.Errorf("the error holds a cell: %v", err)
		}
	}
}
