package neural

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"concord/linalg"
)

// Config says how to train. All fields are set.
type Config struct {
	Hidden []int
	Output Output
	// Outputs is the width of z.
	Outputs int
	// Alpha is the penalty α of a minibatch of n rows, α/2n ‖W‖².
	Alpha float64
	// Rate is the learning rate η.
	Rate float64
	// Batch is the number of rows of a step; the last of an epoch may have fewer.
	Batch int
	// Epochs is the largest number of passes over the rows.
	Epochs int
	// More than Patience epochs in a row without an improvement by Tol end it.
	Tol      float64
	Patience int
	// Validation rows are held out to judge improvement by; none if 0.
	Validation int
	// Start holds the first weights, of the shapes that Hidden and Outputs say;
	// nil means that they are drawn.
	Start []Layer
	Seed  uint64
	// Progress is told of each epoch and its loss; nil if nobody listens.
	Progress func(epoch int, loss float64)
}

// Result is how training went.
type Result struct {
	Epochs int
	// Loss is the mean over the rows of the last epoch of the loss that they had
	// when their minibatch came, plus its penalty. That of numbers is divided by
	// their number of columns, as scikit-learn does.
	Loss float64
	// Stopped tells whether the improvement ceased; if not, the epochs ran out.
	Stopped bool
}

// maxGradients bounds the sum over the parts of a minibatch of the sizes of
// their gradients: 256 MiB.
const maxGradients = 1 << 25

// parts is in how many parts a minibatch is done side by side. It does not
// depend on the number of cores, since the sums do on the parts. A part has 128
// rows at most as long as there are no more than 8, and is worth the start of a
// goroutine: 2¹⁹ multiplications in each of three products take 60 µs.
func parts(rows int, params float64) int {
	byRows := min((rows+blockRows-1)/blockRows, 8)
	byWork := float64(rows) * params / (1 << 19)
	return int(max(1, min(float64(byRows), byWork, maxGradients/params)))
}

// Train learns from the rows of x and y. The result depends on the seed and not
// on the number of cores. It returns an error if ctx is done, within a
// minibatch, or if parameters overflow.
func Train(ctx context.Context, x blas64.General, y Target, set Config) (*Network, Result, error) {
	rnd := rand.New(rand.NewPCG(set.Seed, 0))
	sizes := slices.Concat([]int{x.Cols}, set.Hidden, []int{set.Outputs})
	t := &trainer{Config: set, net: newNetwork(sizes, set.Output, rnd), x: x, y: y, loss: math.Inf(1), score: math.Inf(-1)}
	for l, layer := range set.Start {
		copy(t.net.Layers[l].W.Data, layer.W.Data)
		copy(t.net.Layers[l].B, layer.B)
	}
	t.learn, t.judge = split(x.Rows, y.Labels, set.Validation, rnd)
	t.Batch = min(t.Batch, len(t.learn))
	t.adam = newAdam(t.net, set.Rate)
	for range parts(t.Batch, Count(sizes)) {
		t.passes = append(t.passes, newPass(sizes, t.Batch))
	}
	var result Result
	var err error
	linalg.Serial(func() {
		t.team = newTeam(max(len(t.passes), t.adam.tasks()))
		defer t.team.dismiss()
		result, err = t.run(ctx, rnd)
	})
	if err != nil {
		return nil, result, err
	}
	if t.best != nil {
		copy(t.net.params, t.best)
	}
	return t.net, result, nil
}

// trainer is the state of Train.
type trainer struct {
	Config
	net          *Network
	x            blas64.General
	y            Target
	learn, judge []int // rows learned from, in the order of the epoch, and held out
	adam         *adam
	passes       []*pass
	team         *team

	loss  float64   // the least of all epochs
	score float64   // the best of all epochs, of the rows held out
	best  []float64 // the parameters that had it
}

func (t *trainer) run(ctx context.Context, rnd *rand.Rand) (result Result, err error) {
	idle := 0
	for result.Epochs < t.Epochs {
		rnd.Shuffle(len(t.learn), func(i, j int) { t.learn[i], t.learn[j] = t.learn[j], t.learn[i] })
		var sum float64
		for at := 0; at < len(t.learn); at += t.Batch {
			if err := ctx.Err(); err != nil {
				return result, fmt.Errorf("stopped in epoch %d: %w", result.Epochs+1, err)
			}
			rows := t.learn[at:min(len(t.learn), at+t.Batch)]
			sum += t.minibatch(rows) * float64(len(rows))
		}
		result.Epochs++
		result.Loss = sum / float64(len(t.learn))
		if !t.finite(result.Loss) {
			return result, fmt.Errorf("overflows in epoch %d", result.Epochs)
		}
		if t.Progress != nil {
			t.Progress(result.Epochs, result.Loss)
		}
		if t.improved(result.Loss) {
			idle = 0
		} else if idle++; idle > t.Patience {
			result.Stopped = true
			return result, nil
		}
	}
	return result, nil
}

// minibatch takes one step and returns the mean loss of the rows before it, with
// the penalty.
func (t *trainer) minibatch(rows []int) float64 {
	t.team.do(len(t.passes), func(i int) {
		from, to := i*len(rows)/len(t.passes), (i+1)*len(rows)/len(t.passes)
		t.passes[i].run(t.net, t.x, t.y, rows[from:to])
	})
	var loss float64
	for _, p := range t.passes {
		loss += p.loss
	}
	if t.Output == Squares {
		loss /= float64(t.Outputs)
	}
	squares := t.adam.step(t.team, t.net.params, t.passes, len(rows), t.Alpha)
	return (loss + t.Alpha/2*squares) / float64(len(rows))
}

func (t *trainer) finite(loss float64) bool {
	sum := loss - loss
	for _, v := range t.net.params {
		sum += v - v
	}
	return sum == 0
}

// improved judges an epoch, by the rows held out or, if there are none, by its
// loss, as scikit-learn does.
func (t *trainer) improved(loss float64) bool {
	if len(t.judge) == 0 {
		yes := loss <= t.loss-t.Tol
		t.loss = min(t.loss, loss)
		return yes
	}
	score := t.validate()
	yes := score >= t.score+t.Tol
	if score > t.score {
		t.score, t.best = score, append(t.best[:0], t.net.params...)
	}
	return yes
}
