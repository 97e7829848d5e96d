package kernel

// The product AᵀB of tall matrices, as A_iᵀZ is: k is large, the result small.
// Each element of A is used only n times after it comes from memory, so what
// counts is that it comes in time: k is cut into blocks of which A and B fit in
// the first-level cache together, and while one is multiplied the next of A is
// fetched, a few lines before each call of the kernel. For 1000 × 50 from memory
// that takes 57 µs where the general product takes 90; the arithmetic alone takes
// 51.

const (
	// tallStep is the number of rows in a block. It does not depend on m and n, so
	// that a product cut in parts for several threads has the same bits.
	tallStep = 52
	// tallSide bounds m and n.
	tallSide = 128
	// tallDepth is the least k.
	tallDepth = 192
)

// IsTall tells whether gemmTall is the faster.
func (mk *Kernel) IsTall(m, n, k int, a, b Operand) bool {
	return mk.fetch && a.Trans && !b.Trans && m <= tallSide && n <= tallSide && min(m, n) >= 8 && k >= tallDepth &&
		a.LD < m+8
}

// high is the number of rows of a kernel that leaves the fewest of m rows empty,
// and whether it can be halved.
func (mk *Kernel) high(m int) (rows int, halves bool) {
	full := (m + mk.rows - 1) / mk.rows * mk.rows
	if rest := m % mk.rows; mk.halves && rest > 0 && rest <= mk.rows/2 {
		full -= mk.rows / 2
	}
	if mk.tens && (m+9)/10*10 < full {
		return 10, false
	}
	return mk.rows, mk.halves
}

// gemmTall is gemm for tall operands.
func (mk *Kernel) gemmTall(m, n, k int, alpha float64, a, b Operand, add bool, c []float64, ldc int) {
	mk.Tall(m, n, k, alpha, a, b, add, c, ldc, nil)
}

// Tall is gemmTall that calls each, unless nil, with every block of A while it is
// in the first-level cache. Blocks of C are added up in a padded copy.
func (mk *Kernel) Tall(m, n, k int, alpha float64, a, b Operand, add bool, c []float64, ldc int,
	each func(block []float64)) {
	p := packPool.Get().(*packs)
	defer packPool.Put(p)
	ld := (n + mk.cols - 1) / mk.cols * mk.cols
	high, halves := mk.high(m)
	if need := (m + high - 1) / high * high * ld; cap(p.sum) < need {
		p.sum = make([]float64, need)
	}
	sum := p.sum[:cap(p.sum)]
	calls := ((m + high - 1) / high) * ((n + mk.cols - 1) / mk.cols)
	for l := 0; l < k; l += tallStep {
		kb := min(tallStep, k-l)
		al, bl := Operand{a.Data[l*a.LD:], a.LD, true}, Operand{b.Data[l*b.LD:], b.LD, false}
		// Past the last column a kernel reads what follows in memory, if anything
		// does, for elements of the sum that are not used.
		directA := (kb-1)*a.LD+(m+high-1)/high*high <= len(al.Data)
		directB := (kb-1)*b.LD+ld <= len(bl.Data)
		if !directA {
			for i := 0; i < m; i += high {
				packRows(p.a[i*kb:], al.Data[i:], a.LD, kb, min(high, m-i), high)
			}
		}
		if !directB {
			mk.packB(p.b, bl, kb, n, false)
		}
		next := al.Data[min(kb*a.LD, len(al.Data)):]
		next = next[:min(len(next), tallStep*a.LD)]
		lines := (len(next)/8 + calls - 1) / calls
		var first uintptr
		if l > 0 {
			first = 1
		}
		for j := 0; j < n; j += mk.cols {
			kcols := mk.cols
			if mk.halves && n-j <= mk.cols/2 {
				kcols /= 2
			}
			bp, bs := &p.b[j*kb], uintptr(8*mk.cols)
			if directB {
				bp, bs = &bl.Data[j], uintptr(8*b.LD)
			}
			for i := 0; i < m; i += high {
				krows := high
				if halves && m-i <= high/2 {
					krows /= 2
				}
				if w := min(lines, len(next)/8); w > 0 {
					prefetch(&next[0], w)
					next = next[8*w:]
				}
				ap, ars, acs := &p.a[i*kb], uintptr(8), uintptr(8*high)
				if directA {
					ap, acs = &al.Data[i], uintptr(8*a.LD)
				}
				mk.run(krows, kcols, kb, ap, ars, acs, bp, bs, &sum[i*ld+j], uintptr(8*ld), alpha, first)
			}
		}
		if each != nil {
			each(al.Data[:(kb-1)*a.LD+m])
		}
	}
	for i := range m {
		dst, src := c[i*ldc:][:n], sum[i*ld:][:n]
		if !add {
			copy(dst, src)
			continue
		}
		for j, v := range src {
			dst[j] += v
		}
	}
}
