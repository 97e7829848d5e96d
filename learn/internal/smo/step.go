package smo

import "math"

// choose returns the pair of variables that promises the largest decrease of the
// objective to second order, with the kernel row of the first; j is −1 when the
// violation is below Tol.
func (s *solver) choose() (i, j int32, violation float64, row []float32) {
	i, j = s.first, -1
	if i < 0 {
		return -1, -1, 0, nil
	}
	row = s.Kernel.Row(int(i))
	top, own, least, best := s.top, s.diag[i], math.Inf(1), math.Inf(1)
	for _, t := range s.active {
		if s.room[t]&below == 0 {
			continue
		}
		v := s.v[t]
		if v < least {
			least = v
		}
		size := top - v
		if size <= 0 {
			continue
		}
		// ‖φ_i − φ_t‖²
		curve := own + s.diag[t] - 2*float64(row[t])
		if curve <= 0 {
			curve = tau
		}
		if gain := -size * size / curve; gain <= best {
			best, j = gain, t
		}
	}
	violation = math.Max(0, top-least)
	if violation < s.Tol {
		j = -1
	}
	return i, j, violation, row
}

// step solves for the two variables, updates v, and finds the next first.
func (s *solver) step(i, j int32, rowI []float32) {
	rowJ := s.Kernel.Row(int(j))
	c := s.C
	oldI, oldJ := s.alpha[i], s.alpha[j]
	gI, gJ := -float64(s.Y[i])*s.v[i], -float64(s.Y[j])*s.v[j]
	curve := s.diag[i] + s.diag[j] - 2*float64(rowI[j])
	if curve <= 0 {
		curve = tau
	}
	if s.Y[i] != s.Y[j] {
		delta := (-gI - gJ) / curve
		diff := oldI - oldJ
		s.alpha[i] += delta
		s.alpha[j] += delta
		if diff > 0 && s.alpha[j] < 0 {
			s.alpha[j], s.alpha[i] = 0, diff
		} else if diff <= 0 && s.alpha[i] < 0 {
			s.alpha[i], s.alpha[j] = 0, -diff
		}
		if diff > 0 && s.alpha[i] > c {
			s.alpha[i], s.alpha[j] = c, c-diff
		} else if diff <= 0 && s.alpha[j] > c {
			s.alpha[j], s.alpha[i] = c, c+diff
		}
	} else {
		delta := (gI - gJ) / curve
		sum := oldI + oldJ
		s.alpha[i] -= delta
		s.alpha[j] += delta
		if sum > c && s.alpha[i] > c {
			s.alpha[i], s.alpha[j] = c, sum-c
		} else if sum <= c && s.alpha[j] < 0 {
			s.alpha[j], s.alpha[i] = 0, sum
		}
		if sum > c && s.alpha[j] > c {
			s.alpha[j], s.alpha[i] = c, sum-c
		} else if sum <= c && s.alpha[i] < 0 {
			s.alpha[i], s.alpha[j] = 0, sum
		}
	}
	s.setRoom(i)
	s.setRoom(j)
	changeI := (s.alpha[i] - oldI) * float64(s.Y[i])
	changeJ := (s.alpha[j] - oldJ) * float64(s.Y[j])
	first, top := int32(-1), math.Inf(-1)
	for _, t := range s.active {
		v := s.v[t] - (changeI*float64(rowI[t]) + changeJ*float64(rowJ[t]))
		s.v[t] = v
		if s.room[t]&above != 0 && v >= top {
			first, top = t, v
		}
	}
	s.first, s.top = first, top
	s.rebound(i, oldI, rowI)
	s.rebound(j, oldJ, rowJ)
}
