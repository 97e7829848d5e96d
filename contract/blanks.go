package contract

import "fmt"

// Blank is what stands in a drafted study.yaml where a person has something to say
// (concord study draft).
const Blank = "FILL IN"

// checkBlanks names every place that still is a blank, up to twenty.
func (n *yamlNode) checkBlanks() error {
	var list []*yamlNode
	n.blanks(&list)
	if len(list) == 0 {
		return nil
	}
	text := ""
	for i, blank := range list {
		if i == 20 {
			text += fmt.Sprintf(", and %d more", len(list)-i)
			break
		}
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%s (line %d)", blank.path, blank.line)
	}
	return blankError(text)
}

// blanks collects the blanks below n, itself included.
func (n *yamlNode) blanks(list *[]*yamlNode) {
	if n.kind == yamlScalar && !n.quoted && n.text == Blank {
		*list = append(*list, n)
	}
	for _, item := range n.items {
		item.blanks(list)
	}
}

// blankError says where blanks are.
type blankError string

// Error says where a blank stands.
func (e blankError) Error() string {
	return "contract: study.yaml: " + Blank + " still stands in " + string(e)
}

// Hint says what to do.
func (e blankError) Hint() string {
	return "replace each " + Blank + " by what the sites agree on, for example range: [0, 120]; take a unit out where there is none"
}
