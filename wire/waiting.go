package wire

// Waiting is returned by whoever has done what it could and now waits for others.
// Nothing is wrong: a program that gets it ends with a status of its own.
type Waiting struct {
	For string
}

// Error says who is awaited.
func (e *Waiting) Error() string { return "waiting for " + e.For }
