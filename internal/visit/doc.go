// Package visit is what a data holder's site does: one method or function a step, such as
// [Join], [Visit.Advance], [Visit.Prepare] or [Visit.Send], and values for what came of it.
// Commands, pages and tests call the same steps.
//
// [Open] begins a visit: it locks the site's folder where the step changes it, reads all of
// it, and refuses a step that is not due ([Need]). Nothing is connected before something is
// asked. What happens on the way is told as it happens (package event), and whose turn it is then
// follows from one rule ([Turn]).
//
// What only people decide is passed in: the phrase that they compared, a yes to what would
// leave. Nothing here reads from a terminal or prints.
package visit
