package symeig

import "golang.org/x/sys/cpu"

//go:generate /usr/bin/python3 rows_amd64.py

// The kernels of rows_amd64.s: n counts vectors, the stride is in bytes.

//go:noescape
func zrows(n int, a *float64, stride uintptr, x, y, c, sum *float64)

//go:noescape
func zrowsDot(n int, a *float64, stride uintptr, x, sum *float64)

//go:noescape
func zrowsAdd(n int, a *float64, stride uintptr, y, c *float64)

//go:noescape
func yrows(n int, a *float64, stride uintptr, x, y, c, sum *float64)

//go:noescape
func yrowsDot(n int, a *float64, stride uintptr, x, sum *float64)

//go:noescape
func yrowsAdd(n int, a *float64, stride uintptr, y, c *float64)

// kernels lists what this processor can run, the widest first.
func kernels() []*Kernel {
	var ks []*Kernel
	if cpu.X86.HasAVX512F {
		ks = append(ks, &Kernel{
			lanes: 8, rows: 8,
			both: func(n int, a []float64, ld int, x, y []float64, c, sum *[maxRows]float64) {
				zrows(n/8, &a[0], uintptr(8*ld), &x[0], &y[0], &c[0], &sum[0])
			},
			dot: func(n int, a []float64, ld int, x []float64, sum *[maxRows]float64) {
				zrowsDot(n/8, &a[0], uintptr(8*ld), &x[0], &sum[0])
			},
			add: func(n int, a []float64, ld int, y []float64, c *[maxRows]float64) {
				zrowsAdd(n/8, &a[0], uintptr(8*ld), &y[0], &c[0])
			},
		})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		ks = append(ks, &Kernel{
			lanes: 4, rows: 4,
			both: func(n int, a []float64, ld int, x, y []float64, c, sum *[maxRows]float64) {
				yrows(n/4, &a[0], uintptr(8*ld), &x[0], &y[0], &c[0], &sum[0])
			},
			dot: func(n int, a []float64, ld int, x []float64, sum *[maxRows]float64) {
				yrowsDot(n/4, &a[0], uintptr(8*ld), &x[0], &sum[0])
			},
			add: func(n int, a []float64, ld int, y []float64, c *[maxRows]float64) {
				yrowsAdd(n/4, &a[0], uintptr(8*ld), &y[0], &c[0])
			},
		})
	}
	return ks
}
