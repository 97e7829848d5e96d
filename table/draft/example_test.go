package draft_test

import (
	"fmt"
	"log"
	"strings"

	"concord/table/draft"
)

// A first study.yaml from the shape of a file: no value of the file is in it, and what a person
// has to say stands as FILL IN.
func ExampleDraft() {
	d, err := draft.New([]string{"age", "returned"}, draft.Options{Label: "returned"})
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range [][2]string{{"71", "yes"}, {"34", "no"}, {"58", "no"}} {
		d.Add([][]byte{[]byte(row[0]), []byte(row[1])})
	}
	var text strings.Builder
	if err := d.YAML(&text); err != nil {
		log.Fatal(err)
	}
	fmt.Println("names the column:", strings.Contains(text.String(), "- name: age"))
	fmt.Println("asks for its range:", strings.Contains(text.String(), "range: FILL IN"))
	fmt.Println("holds a value:", strings.Contains(text.String(), "71"))
	// Output:
	// names the column: true
	// asks for its range: true
	// holds a value: false
}
