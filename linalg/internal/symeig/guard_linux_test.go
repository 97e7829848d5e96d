package symeig

import (
	"runtime/debug"
	"testing"

	"concord/linalg/internal/guard"
)

// TestRowKernelsWithin holds that products of a few rows with vectors read and write
// nothing outside of their operands.
func TestRowKernelsWithin(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, k := range rowKernels() {
		for vectors := 1; vectors < 6; vectors++ {
			for _, atEnd := range []bool{false, true} {
				n := vectors * k.lanes
				a := guard.Slice(t, (k.rows-1)*(n+3)+n, atEnd)
				x, y := guard.Slice(t, n, atEnd), guard.Slice(t, n, atEnd)
				c, sum := guard.Slice(t, maxRows, atEnd), guard.Slice(t, maxRows, atEnd)
				for i := range a {
					a[i] = 1
				}
				for i := range x {
					x[i] = 1
				}
				c[0] = 2
				guard.Within(t, k.title(), func() {
					k.dot(n, a, n+3, x, (*[maxRows]float64)(sum))
					k.add(n, a, n+3, y, (*[maxRows]float64)(c))
					k.both(n, a, n+3, x, y, (*[maxRows]float64)(c), (*[maxRows]float64)(sum))
				})
				if sum[0] != float64(n) || y[n-1] != 4 {
					t.Errorf("%s, %d columns: sum %g, element %g", k.title(), n, sum[0], y[n-1])
				}
			}
		}
	}
}
