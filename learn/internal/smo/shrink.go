package smo

import "math"

// rebound keeps bound when variable i, which was at old, came to C or left it.
func (s *solver) rebound(i int32, old float64, row []float32) {
	was, is := old >= s.C, s.alpha[i] >= s.C
	if was == is {
		return
	}
	c := s.C * float64(s.Y[i])
	if was {
		c = -c
	}
	for t := range s.bound {
		s.bound[t] -= c * float64(row[t])
	}
}

// shrink leaves out variables at a bound that are unlikely to leave it ([chang2011],
// section 5.1).
func (s *solver) shrink() error {
	up, down := math.Inf(-1), math.Inf(-1) // largest v with room above, −v with room below
	for _, t := range s.active {
		if s.room[t]&above != 0 {
			up = math.Max(up, s.v[t])
		}
		if s.room[t]&below != 0 {
			down = math.Max(down, -s.v[t])
		}
	}
	if !s.unshrunk && up+down <= 10*s.Tol {
		s.unshrunk = true
		if err := s.reconstruct(); err != nil {
			return err
		}
	}
	kept := s.active[:0]
	for _, t := range s.active {
		if r := s.room[t]; r == above && -s.v[t] > down || r == below && s.v[t] > up {
			continue
		}
		kept = append(kept, t)
	}
	s.active = kept
	s.scan()
	return nil
}

// reconstruct computes the v of the variables left out, and takes them in: by
// the kernel rows of the free variables, or of those left out if these are fewer.
func (s *solver) reconstruct() error {
	n := len(s.alpha)
	if len(s.active) == n {
		return nil
	}
	in := make([]bool, n)
	for _, t := range s.active {
		in[t] = true
	}
	var out, free []int32
	for t := range n {
		if !in[t] {
			s.v[t] = s.bound[t] - float64(s.Y[t])*s.P[t]
			out = append(out, int32(t))
		}
		if s.room[t] == above|below {
			free = append(free, int32(t))
		}
	}
	rows, cols := free, out
	if len(out) < len(free) {
		rows, cols = out, free
	}
	for _, i := range rows {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		row := s.Kernel.Row(int(i))
		if len(out) < len(free) {
			for _, t := range cols {
				s.v[i] -= s.alpha[t] * float64(s.Y[t]) * float64(row[t])
			}
			continue
		}
		c := s.alpha[i] * float64(s.Y[i])
		for _, t := range cols {
			s.v[t] -= c * float64(row[t])
		}
	}
	s.active = s.active[:n]
	for t := range n {
		s.active[t] = int32(t)
	}
	s.scan()
	return nil
}
