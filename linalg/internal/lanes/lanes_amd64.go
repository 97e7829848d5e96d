package lanes

import "golang.org/x/sys/cpu"

//go:generate /usr/bin/python3 lanes_amd64.py

//go:noescape
func ztile5x5(t *tileCall)

//go:noescape
func ztile5x4(t *tileCall)

//go:noescape
func ztile5x1(t *tileCall)

//go:noescape
func ztile4x5(t *tileCall)

//go:noescape
func ztile4x4(t *tileCall)

//go:noescape
func ztile4x1(t *tileCall)

//go:noescape
func zdot(n int, x, y, sum *float64)

//go:noescape
func zscale(n int, f, x *float64)

//go:noescape
func zcombine(n int, alpha float64, x *float64, beta float64, y *float64)

//go:noescape
func ytile3x3(t *tileCall)

//go:noescape
func ytile3x2(t *tileCall)

//go:noescape
func ytile3x1(t *tileCall)

//go:noescape
func ytile2x3(t *tileCall)

//go:noescape
func ytile2x2(t *tileCall)

//go:noescape
func ytile2x1(t *tileCall)

//go:noescape
func ydot(n int, x, y, sum *float64)

//go:noescape
func yscale(n int, f, x *float64)

//go:noescape
func ycombine(n int, alpha float64, x *float64, beta float64, y *float64)

// Kernels lists what this processor can run, the widest first.
func Kernels() []*Kernel {
	var ks []*Kernel
	if cpu.X86.HasAVX512F {
		ks = append(ks, &Kernel{
			Width: 8, tile: 5, Dot: zdot, scale: zscale, combine: zcombine,
			run: func(rows, cols int, t *tileCall) {
				switch {
				case rows == 5 && cols == 5:
					ztile5x5(t)
				case rows == 5 && cols == 4:
					ztile5x4(t)
				case rows == 5:
					ztile5x1(t)
				case cols == 5:
					ztile4x5(t)
				case cols == 4:
					ztile4x4(t)
				default:
					ztile4x1(t)
				}
			},
		})
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		ks = append(ks, &Kernel{
			Width: 4, tile: 3, Dot: ydot, scale: yscale, combine: ycombine,
			run: func(rows, cols int, t *tileCall) {
				switch {
				case rows == 3 && cols == 3:
					ytile3x3(t)
				case rows == 3 && cols == 2:
					ytile3x2(t)
				case rows == 3:
					ytile3x1(t)
				case cols == 3:
					ytile2x3(t)
				case cols == 2:
					ytile2x2(t)
				default:
					ytile2x1(t)
				}
			},
		})
	}
	return ks
}
