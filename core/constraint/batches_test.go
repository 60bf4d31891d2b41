package constraint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/libmode/libmode/core/constraint"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// batch returns n events of one mass. The score depends on the mass.
func batch(rng *rand.Rand, n int) core.Events[float64] {
	ev := core.Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
	for i := range n {
		m := rng.ExpFloat64()
		ev.Mass[i], ev.Score[i] = 50*m, 1/(1+math.Exp(-rng.NormFloat64()-m+1))
	}
	return ev
}

// setWeights gives a fraction of the events this weight, and the others 1.
func setWeights(ev *core.Events[float64], rng *rand.Rand, fraction, weight float64) {
	ev.Weight = make([]float64, len(ev.Score))
	for i := range ev.Weight {
		ev.Weight[i] = 1
		if rng.Float64() < fraction {
			ev.Weight[i] = weight
		}
	}
}

// unequal returns numbers of which n-rare are 0 and the others 1.
func unequal(n, rare int) []int64 {
	numbers := make([]int64, n)
	for i := range rare {
		numbers[i*n/rare] = 1
	}
	return numbers
}

// Random batches and options: a push if there is a loss, and else the error of the loss.
func TestDirectionOfRandomBatches(t *testing.T) {
	losses, rng := 0, rand.New(rand.NewPCG(63, 64))
	chance := func(p float64) bool { return rng.Float64() < p }
	for range 2000 {
		n, cfg := 3+int(math.Exp(6*rng.Float64())), core.DefaultConfig()
		cfg.Order, cfg.Biased = rng.IntN(4), !chance(0.8)
		if chance(0.1) {
			cfg.Order, cfg.Moments = 12+rng.IntN(5), core.Quadrature
		}
		ev := batch(rng, n)
		if chance(0.3) {
			for i := range ev.Mass {
				ev.Mass[i] = math.Round(ev.Mass[i] / 10)
			}
		}
		if chance(0.6) {
			setWeights(&ev, rng, 0.5*rng.Float64(), []float64{-1, 0, 50, 0.9, 1e4}[rng.IntN(5)])
		}
		if chance(0.3) {
			ev.Label, cfg.BackgroundLabel = core.LabelsOf(unequal(n, 1+rng.IntN(n))), []int32{0, 1}
		}
		if chance(0.3) {
			cfg.Binning = core.Uniform
		}
		several := chance(0.3)
		if several {
			ev.Masses, ev.Mass = [][]float64{ev.Mass, batch(rng, n).Mass, batch(rng, n).Mass}[:2+rng.IntN(2)], nil
			cfg.Joint = chance(0.5)
			cfg.Missing = core.MissingIgnore
			for i := range ev.Masses[1] {
				if chance([]float64{0.2, 0.96}[n%2]) {
					ev.Masses[1][i] = nan
				}
			}
		} else if chance(0.3) {
			cfg.MassRange = [2]float64{20, 60}
		}
		if chance(0.2) && !several {
			cfg.Bins = 1 + rng.IntN(40)
		}
		requireSamePossible(t, ev, cfg, &losses)
	}
	require.Greater(t, losses, 600)
}

// requireSamePossible fails if events have a loss and no push, or a push and no loss, or if the push is no number.
func requireSamePossible(t *testing.T, ev core.Events[float64], cfg core.Config, losses *int) {
	t.Helper()
	loss, err := core.Loss(ev, cfg)
	push, state := make([]float64, len(ev.Score)), make([]float64, constraint.StateSize(len(cfg.BackgroundLabel), 0))
	_, failed := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{State: state})
	if err != nil {
		require.EqualError(t, failed, err.Error())
		return
	}
	require.NoError(t, failed, "the loss is %v", loss)
	for _, x := range append(push, state...) {
		require.True(t, finite(x), fmt.Sprint(x))
	}
	*losses++
}

// A push by scores that a float32 cannot hold is an error, which leaves the state as it was.
func TestDirectionOfNarrowRangesInSinglePrecision(t *testing.T) {
	for _, width := range []float64{1e-30, 1e-32, 1e-34, 1e-37, 1e-40} {
		rng, cfg := rand.New(rand.NewPCG(77, 78)), core.DefaultConfig()
		cfg.ScoreRange = [2]float64{0, width}
		ev := core.Events[float32]{}
		for range 2000 {
			m := rng.Float64()
			ev.Mass = append(ev.Mass, float32(m))
			ev.Score = append(ev.Score, float32(width*math.Pow(rng.Float64(), 1+20*m)))
		}
		push, state := make([]float32, 2000), make([]float64, constraint.StateSize(1, 0))
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{State: state})
		if err != nil {
			require.ErrorIs(t, err, core.ErrOverflow)
			require.ErrorContains(t, err, fmt.Sprintf("score_range = [0, %.3g", width))
			require.Equal(t, make([]float64, constraint.StateSize(1, 0)), state)
			continue
		}
		require.Equal(t, 1e-30, width)
		for _, u := range push {
			require.True(t, finite(float64(u)))
		}
	}
}

// The loss of a push has no bias, also if its gradient has one.
func TestThePushReportsTheUnbiasedLoss(t *testing.T) {
	ev, cfg := batch(rand.New(rand.NewPCG(83, 84)), 500), core.DefaultConfig()
	push := make([]float64, 500)
	with, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
	require.NoError(t, err)
	cfg.Biased = true
	without, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
	require.NoError(t, err)
	require.InEpsilon(t, with.Loss, without.Loss, 1e-9)
	require.InEpsilon(t, with.Bias, without.Bias, 1e-9)
}

// The gradient is lifted by the root of the mean size of all weights over the mean size in the bin, and at most by exp(5).
func TestTheLiftOfSmallWeights(t *testing.T) {
	const n = 1000
	ev, cfg := batch(rand.New(rand.NewPCG(87, 88)), n), binned(2)
	edges, err := core.Edges(ev, cfg)
	require.NoError(t, err)
	for small, want := range map[float64]float64{0.5: math.Sqrt(0.75 / 0.5), 1e-9: math.Exp(5)} {
		ev.Weight = make([]float64, n)
		for i, m := range ev.Mass {
			if ev.Weight[i] = 1; m < edges[1] {
				ev.Weight[i] = small
			}
		}
		push, multiplier := make([]float64, n), make([]float64, n)
		_, err := constraint.Direction(push, multiplier, nil, ev, cfg, constraint.Steering{})
		require.NoError(t, err)
		for i, m := range ev.Mass {
			if m < edges[1] {
				require.InEpsilon(t, want, multiplier[i], 1e-9)
			} else {
				require.InEpsilon(t, math.Sqrt((1+small)/2), multiplier[i], 1e-9)
			}
		}
	}
}

// Without a number of bins there are 24 for events enough.
func TestBinsOfAPush(t *testing.T) {
	ev := batch(rand.New(rand.NewPCG(89, 90)), 1000)
	of := func(cfg core.Config) []float64 {
		push := make([]float64, 1000)
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
		require.NoError(t, err)
		return push
	}
	require.InDeltaSlice(t, of(binned(24)), of(binned(0)), 0)
}

// Many independent events have a small gradient, which is a push all the same. A fit with as many functions as bins has none.
func TestSmallGradientsPush(t *testing.T) {
	rng, ev := rand.New(rand.NewPCG(91, 93)), core.Events[float64]{}
	for range 40_000 {
		ev.Score, ev.Mass = append(ev.Score, rng.Float64()), append(ev.Mass, rng.ExpFloat64())
	}
	for order, pushes := range map[int]bool{0: true, 3: false} {
		push := make([]float64, 40_000)
		cfg := binned(4)
		cfg.Order = order
		_, err := constraint.Direction(push, like(push), nil, ev, cfg, constraint.Steering{})
		require.NoError(t, err)
		require.Equal(t, pushes, floats.Norm(push, 1) > 0, order)
	}
}
