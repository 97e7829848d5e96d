package kernel

import "golang.org/x/sys/cpu"

//go:generate /usr/bin/python3 gemm_amd64.py

// The kernels of gemm_amd64.s. Strides are in bytes. They read a row of B to
// the width of the kernel and write a block of C of its full size, which they
// do not read for add = 0.

//go:noescape
func kernel6x8(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

//go:noescape
func kernel6x8z(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

//go:noescape
func kernel6x16(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

//go:noescape
func kernel10x8(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

//go:noescape
func kernel10x16(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

//go:noescape
func kernel12x8(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

//go:noescape
func kernel12x16(k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
	add uintptr)

// prefetch asks for lines of 64 bytes from p on.
//
//go:noescape
func prefetch(p *float64, lines int)

// Kernels lists the micro-kernels that this processor can run, the fastest
// first. x/sys/cpu reports a feature only if the operating system saves its
// registers.
func Kernels() []*Kernel {
	var ks []*Kernel
	if cpu.X86.HasAVX512F {
		ks = append(ks, &Kernel{
			Name: "AVX-512", Lanes: 8, rows: 12, cols: 16, halves: true, tens: true, fetch: true,
			run: func(rows, cols, k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr,
				alpha float64, add uintptr) {
				switch {
				case rows == 12 && cols == 16:
					kernel12x16(k, a, ars, acs, b, bs, c, cs, alpha, add)
				case rows == 12:
					kernel12x8(k, a, ars, acs, b, bs, c, cs, alpha, add)
				case rows == 10 && cols == 16:
					kernel10x16(k, a, ars, acs, b, bs, c, cs, alpha, add)
				case rows == 10:
					kernel10x8(k, a, ars, acs, b, bs, c, cs, alpha, add)
				case cols == 16:
					kernel6x16(k, a, ars, acs, b, bs, c, cs, alpha, add)
				default:
					kernel6x8z(k, a, ars, acs, b, bs, c, cs, alpha, add)
				}
			},
		})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		ks = append(ks, &Kernel{
			Name: "AVX2", Lanes: 4, rows: 6, cols: 8, fetch: true,
			run: func(_, _, k int, a *float64, ars, acs uintptr, b *float64, bs uintptr, c *float64, cs uintptr, alpha float64,
				add uintptr) {
				kernel6x8(k, a, ars, acs, b, bs, c, cs, alpha, add)
			},
		})
	}
	return ks
}
