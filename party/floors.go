package party

import (
	"fmt"

	"concord/contract"
)

// The built-in floors: they hold whatever contract and site say.
const (
	leastRows     = 10
	leastPerClass = 2
	leastPeople   = 5
)

// Floor is a least figure, and who demands it.
type Floor struct {
	Least int
	By    string
}

// Floors are those that count at a site: of the contract's, the site's own and the
// built-in ones the strictest. A missing policy means that the other two count.
type Floors struct {
	Rows, PerClass, People Floor
	// Eps is the least relative length that the basis leaves out of a row; rows below
	// are dropped.
	Eps float64
	// Correlation and Linkage are the largest that the site lets pass; 0 for no bound.
	Correlation, Linkage float64
}

// EffectiveFloors joins the floors of a contract, of the site's policy (nil for none)
// and the built-in ones. The floor per class counts for labels of classes only; people
// are rows where the contract names no subject.
func EffectiveFloors(c *contract.Contract, own *contract.Policy) Floors {
	if own == nil {
		own = new(contract.Policy)
	}
	strictest := func(agreed, site, builtIn int) Floor {
		f := Floor{builtIn, "built in"}
		if agreed >= f.Least {
			f = Floor{agreed, "of the contract"}
		}
		if site > f.Least {
			f = Floor{site, "of this site"}
		}
		return f
	}
	f := Floors{
		Rows:   strictest(c.Floors.Rows, own.Rows, leastRows),
		People: strictest(c.Floors.People, own.People, leastPeople),
		Eps:    max(c.Floors.Eps, own.Eps), Correlation: own.Correlation, Linkage: own.Linkage,
	}
	if c.Label.Type == "class" {
		f.PerClass = strictest(c.Floors.PerClass, own.PerClass, leastPerClass)
	}
	return f
}

// below says that a figure is under its floor.
func (f Floor) below(n int, format string, args ...any) []string {
	if n >= f.Least {
		return nil
	}
	return []string{fmt.Sprintf(format, args...) + fmt.Sprintf(", the floor %s is %d", f.By, f.Least)}
}

// plural is "1 row" or "2 rows".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
