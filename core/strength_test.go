package core_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/libmode/libmode/core"
)

// TestStrengthen compares the factor with the norms as the comment defines them, over batches with labels and weights, of which the
// norms cover a part.
func TestStrengthen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cfg := core.DefaultConfig()
	cfg.BackgroundLabel, cfg.Strength = []int32{0, 2}, 7
	var averages, want [3]float64
	for batch := range 300 {
		n, count := 1500+batch, 1200
		ev := core.Events[float64]{Score: make([]float64, n), Mass: make([]float64, n), Weight: make([]float64, n)}
		labels, grad := make([]int32, n), make([]float64, n)
		var c2, m2, selected, ofBatch float64
		for i := range n {
			ev.Score[i], ev.Weight[i] = rng.Float64(), rng.Float64()-0.1
			labels[i], grad[i] = rng.Int32N(3), rng.NormFloat64()
			if labels[i] != 1 {
				selected++
			}
			if i < count {
				m2 += grad[i] * grad[i]
				if labels[i] != 1 {
					ofBatch++
					c2 += math.Pow(ev.Weight[i]/math.Max(1-ev.Score[i], 0.01)/float64(count), 2)
				}
			}
		}
		ev.Label = core.LabelsOf(labels)
		first := grad[0]
		scale, err := core.Strengthen(grad, ev, cfg, core.Strength{Batch: count, Averages: &averages})
		require.NoError(t, err)
		want[0]++
		rate := math.Max(1/want[0], 1.0/200)
		want[1] += rate * (math.Sqrt(c2) - want[1])
		want[2] += rate * (selected/ofBatch*math.Sqrt(m2) - want[2])
		require.InEpsilonSlice(t, want[:], averages[:], 1e-12)
		require.InEpsilon(t, 7*want[1]/want[2], scale, 1e-12)
		require.InEpsilon(t, first*scale, grad[0], 1e-12)
	}
	before, one := averages, core.Events[float64]{Score: []float64{0.5}, Mass: []float64{1}}
	_, err := core.Strengthen([]float64{math.Inf(1)}, one, cfg, core.Strength{Averages: &averages})
	require.ErrorIs(t, err, core.ErrOverflow)
	for want, change := range map[string]func(*core.Config){
		"strength = -2 must be finite and at least 0": func(c *core.Config) { c.Strength = -2 },
		"averages are given, and strength = none":     func(c *core.Config) { c.Strength = core.NoStrength },
		"score_range = [0, 2] cannot be combined":     func(c *core.Config) { c.ScoreRange[1] = 2 },
	} {
		bad := cfg
		change(&bad)
		_, err = core.Strengthen([]float64{1}, one, bad, core.Strength{Averages: &averages})
		require.ErrorContains(t, err, want)
	}
	require.Equal(t, before, averages)
	for k := range 3 {
		for _, x := range []float64{math.NaN(), math.Inf(1), -1} {
			bad := averages
			bad[k] = x
			_, err = core.Strengthen([]float64{1}, one, cfg, core.Strength{Averages: &bad})
			require.ErrorContains(t, err, fmt.Sprintf("averages[%d] = %v: must be finite and at least 0", k, x))
		}
	}
}

// Gradients of any size, in either type, get the norm of the cross entropy's, to which NaNs of signal do not matter.
func TestStrengthenGradientsOfAnySize(t *testing.T) {
	for _, size := range []float64{1e-40, 1e-23, 1, 1e19, 1e37} {
		strengthened[float32](t, size)
	}
	for _, size := range []float64{1e-300, 1e-160, 1, 1e160, 1e300} {
		strengthened[float64](t, size)
	}
}

func strengthened[T core.Float](t *testing.T, size float64) {
	const n = 3000
	nan := T(math.NaN())
	ev := core.Events[T]{Score: make([]T, n), Mass: make([]T, n), Weight: make([]T, n)}
	labels, grad, squares := make([]int8, n), make([]T, n), 0.0
	for i := range n {
		ev.Score[i], ev.Weight[i], grad[i] = 0.5, 1, T(size*float64(i%7))
		if labels[i] = int8(i % 2); i%2 > 0 {
			ev.Score[i], ev.Weight[i], grad[i] = nan, nan, 0
		}
		squares += math.Pow(float64(grad[i])/size, 2)
	}
	ev.Label = core.LabelsOf(labels)
	averages := [3]float64{}
	cfg := core.DefaultConfig()
	cfg.Strength = 3
	scale, err := core.Strengthen(grad, ev, cfg, core.Strength{Averages: &averages})
	require.NoError(t, err)
	want := 3 * math.Sqrt(4*n/2) / n
	require.InEpsilon(t, want, scale*math.Sqrt(squares)*size, 1e-6, "%v", size)
	norm := 0.0
	for _, x := range grad {
		norm += float64(x) * float64(x)
	}
	require.InEpsilon(t, want, math.Sqrt(norm), 1e-6, "%v", size)
}
