package lab

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"concord/internal/build"
	"concord/internal/doctor"
	"concord/linalg"
)

func doctorCommand(stdout io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what computes on this machine: backend, cores, memory",
		Long: `Says which library multiplies matrices and how fast, how many cores this process may
use, and how much memory is free. Each line begins with ok, warning or FAILED.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			r := new(doctor.Report)
			r.OK("program", "concord-lab %s, %s/%s", build.Program(), runtime.GOOS, runtime.GOARCH)
			examineBackend(r)
			examineCores(r)
			examineMemory(r)
			return r.Write(stdout, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// examineBackend multiplies two matrices of productSize rows and columns.
func examineBackend(r *doctor.Report) {
	const productSize, tries = 512, 3
	a := mat.NewDense(productSize, productSize, nil)
	for i := range productSize {
		a.Set(i, (i*7)%productSize, 1) // a permutation: the product is known
	}
	var c mat.Dense
	best := time.Hour
	for range tries {
		begun := time.Now()
		c.Mul(a, a)
		best = min(best, time.Since(begun))
	}
	speed := fmt.Sprintf("%.1f Gflop/s on %d × %d", 2*productSize*productSize*productSize/best.Seconds()/1e9, productSize, productSize)
	b := linalg.Backend()
	if c.At(0, 0) != 1 || c.At(1, (7*7)%productSize) != 1 {
		r.Fail("backend", "a product by "+b.String()+" is wrong", linalg.EnvBLAS+"=go takes the pure Go one")
		return
	}
	if b.Name == "Go" {
		r.Warn("backend", b.String()+"; "+speed, "install OpenBLAS (libopenblas0 on Debian) for large studies, or name a library in "+linalg.EnvBLAS)
		return
	}
	r.OK("backend", "%s; %s", b.String(), speed)
}

func examineCores(r *doctor.Report) {
	used, all := runtime.GOMAXPROCS(0), runtime.NumCPU()
	if used < all {
		r.Warn("cores", fmt.Sprintf("%d of %d are used", used, all), "GOMAXPROCS or a container's limit says so")
		return
	}
	r.OK("cores", "%d", used)
}

// smallMemory is below which published sizes do not fit.
const smallMemory = 2 << 30

func examineMemory(r *doctor.Report) {
	b, err := os.ReadFile("/proc/meminfo")
	free, ok := available(b)
	switch {
	case err != nil || !ok:
		r.Warn("memory", "how much is free is not looked at on this operating system", "large experiments take some GiB")
	case free < smallMemory:
		r.Warn("memory", doctor.Bytes(free)+" are free", "close other programs before large experiments")
	default:
		r.OK("memory", "%s are free", doctor.Bytes(free))
	}
}

// available reads what Linux says can be had without swapping.
func available(meminfo []byte) (int64, bool) {
	lines := bufio.NewScanner(bytes.NewReader(meminfo))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10, err == nil
		}
	}
	return 0, false
}
