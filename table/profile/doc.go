// Package profile says what a site's file holds, in figures: rows and people, and for
// each feature the values, gaps and faults, smallest and largest, mean and deviation,
// levels; and what in it looks wrong, so that a person mends everything at once.
//
// Start with [Survey], which reads a file in one pass, or give the rows of a [table.Scan]
// to a [Collector]. [AgainstRest] and [AgainstRange] say whether a column seems to be
// written in another unit than it ought to be.
//
// A [Report] is for the people of the site: smallest and largest values are cells of
// rows, and faults say where rows differ from others. Nothing of it leaves; nothing
// beside these two, and the levels that the contract has anyway, is the content of a
// cell.
package profile
