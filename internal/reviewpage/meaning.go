package reviewpage

import (
	"fmt"

	"concord/contract"
)

// Meaning says in plain words what it means that a contribution under c leaves, one
// paragraph each: to the person who approves, on the page and on the terminal.
func Meaning(c *contract.Contract) []string {
	said := []string{
		"X is your rows through a secret basis, in random order; without the basis or the anchor its columns have no names. " +
			"The analyst has neither. It can find the directions in which your rows vary most; where one of them is nearly a single feature, " +
			"sorting by it sorts your people by that feature (figures above).",
		"Y is each row's label as it is, and A the secret anchor through your basis.",
		undone(c),
	}
	if n := c.Noise; n != nil && n.Guarantees() {
		said = append(said, fmt.Sprintf("Noise is on every number of X: (%g, %g)-differential privacy for the features of one row, against everybody, "+
			"whoever undoes the projection included. It does not cover Y, nor how many rows there are, and every further contribution of the same rows adds to it.", n.Epsilon, n.Delta))
	} else if n != nil {
		said = append(said, fmt.Sprintf("Noise of deviation %g is on every number of X. It is noise only: it has no guarantee.", n.Sigma))
	}
	if c.Protocol == "nri" {
		said = append(said,
			"The protocol is nri: this site keeps neither the basis nor the order of the rows, and what would leave lies here sealed to the analyst only. "+
				"What lies here, your rows with it, does not suffice to tell again which row of X is whose. That concerns who has this site's disk; "+
				"it changes nothing for the analyst, with or without a party. Memory, swap and core dumps of the computer while it prepared are not covered.",
			"Only the model's answers for the anchor's rows come back, and this site trains a model of its own on them.")
	} else {
		said = append(said,
			"The protocol is dc: the basis stays in this site's folder. Whoever has the folder and your rows can tell which row of X is whose. "+
				"What comes back is a change of basis and a model; the model's file at this site then holds the basis too.")
	}
	return append(said,
		"The figures are of the attacks that are named, run on these very rows. They do not show that no other attack does better.")
}

// undone says what the projection does not hide from whom.
func undone(c *contract.Contract) string {
	l, m := c.Basis.Dim, c.M()
	if c.Lift == nil {
		return fmt.Sprintf("The analyst together with any one party can undo the projection, up to what a basis of %d columns leaves out of %d %s. "+
			"So can whoever knows %d of your rows and which rows of X they are; who knows fewer, in part.", l, m, c.ColumnsWord(), m)
	}
	return fmt.Sprintf("The rows went through random Fourier features that all parties know and the analyst does not. The analyst together with any one party "+
		"can undo the projection and solve for the features: %d columns leave and there are %d features, and what as many columns as features leave hides nothing from them. "+
		"Whoever knows some of your rows and which rows of X they are reads the others in part.", l, m)
}
