package lab

import (
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"concord/align"
	"concord/linalg"
)

// TestSplitMix compares with the first words of the reference implementation
// (Vigna, splitmix64.c) from seed 0.
func TestSplitMix(t *testing.T) {
	s := new(splitMix)
	for _, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec} {
		if got := s.Uint64(); got != want {
			t.Errorf("%#x, want %#x", got, want)
		}
	}
}

func TestMeasure(t *testing.T) {
	n := 0
	s, err := measure(4, func() error {
		n++
		time.Sleep(time.Duration(n) * time.Millisecond)
		return nil
	})
	// Sleeps of 1, 2, 3 and 4 ms, or longer: the median is the mean of the two in
	// the middle.
	if err != nil || n != 4 || s.Min < 0.001 || s.Median < 0.0025 || s.Max < 0.004 || s.Min > s.Median || s.Median > s.Max {
		t.Errorf("%+v, %v after %d calls", s, err, n)
	}
	broken := errors.New("broken")
	if _, err := measure(4, func() error { return broken }); err != broken {
		t.Errorf("%v, want the error of the function", err)
	}
}

// TestEnergy: against the singular values of W and of the orthonormalised A_i.
// Both are sums of d squares below 1e4 and 4, exact to a few eps.
func TestEnergy(t *testing.T) {
	a := make([]*mat.Dense, 4)
	src := new(splitMix)
	w, q := mat.NewDense(30, 20, nil), mat.NewDense(30, 20, nil)
	for i := range a {
		a[i] = linalg.Uniform(30, 5, src)
		w.Slice(0, 30, 5*i, 5*i+5).(*mat.Dense).Copy(a[i])
		qi, _, err := linalg.QR(a[i])
		if err != nil {
			t.Fatal(err)
		}
		q.Slice(0, 30, 5*i, 5*i+5).(*mat.Dense).Copy(qi)
	}
	for method, m := range map[string]*mat.Dense{"ls": w, "gep": q} {
		s, err := linalg.SingularValues(m)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for _, x := range s[:5] {
			want += x * x
		}
		res, err := align.Run(method, a, align.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := energy(res, 4); math.Abs(got-want) > 1e-10*want {
			t.Errorf("%s: energy %v, want %v", method, got, want)
		}
	}
}

func TestBenchAlign(t *testing.T) {
	if testing.Short() {
		t.Skip("takes more than half a second")
	}
	for _, method := range align.Methods() {
		status, stdout, stderr := runLab(t.Context(), "bench", "align", "--json", "--floor", "--method", method, "--dim", "3", "--rows", "20", "--parties", "4", "--repeat", "3")
		if status != 0 {
			t.Fatalf("%s: %s", method, stderr)
		}
		var r benchRecord
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		ordered := func(s seconds) bool { return 0 < s.Min && s.Min <= s.Median && s.Median <= s.Max }
		if r.Method != method || r.Dim != 3 || r.Rows != 20 || r.Parties != 4 || r.Repeat != 3 || r.Backend == "" || r.Solver == "" ||
			!ordered(r.Seconds) || r.Floor == nil || !ordered(*r.Floor) || !(r.Residual > 0) {
			t.Errorf("%s: %s", method, stdout)
		}
		if runtime.GOOS == "linux" && r.PeakRSS < 1<<20 {
			t.Errorf("%s: peak memory %d bytes", method, r.PeakRSS)
		}
	}
	for flag, value := range map[string]string{"--rows": "99999999999", "--parties": "9000000000000000000", "--repeat": "9000000000000000000"} {
		if status, _, stderr := runLab(t.Context(), "bench", "align", "--method", "odc", flag, value); status != 2 || !strings.Contains(stderr, flag) {
			t.Errorf("%s %s: status %d, %s", flag, value, status, stderr)
		}
	}
	if status, _, stderr := runLab(t.Context(), "bench", "align", "--method", "odc", "--solver", "fast"); status != 2 {
		t.Errorf("an unknown solver: status %d, %s", status, stderr)
	}
}
