package core_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/libmode/libmode/core"
	"github.com/stretchr/testify/require"
)

// eventsOf returns n events with ties in score and mass, perhaps with weights of either sign, labels, categories and a second mass.
func eventsOf[T core.Float](n int, weights, labels, categories, masses bool, rng *rand.Rand) core.Events[T] {
	ev, label, category, second := core.Events[T]{}, make([]int32, n), make([]int32, n), make([]T, n)
	for i := range n {
		ev.Score = append(ev.Score, T(rng.IntN(4*n))/T(4*n))
		ev.Mass = append(ev.Mass, T(50+rng.IntN(8*n)))
		label[i], category[i], second[i] = int32(rng.IntN(3)), int32(rng.IntN(2)), T(rng.NormFloat64())
		if weights {
			ev.Weight = append(ev.Weight, T(rng.Float64()+0.5))
			if rng.IntN(50) == 0 {
				ev.Weight[i] *= -1
			}
		}
	}
	if labels {
		ev.Label = core.LabelsOf(label)
	}
	if categories {
		ev.Category = core.LabelsOf(category)
	}
	if masses {
		ev.Masses, ev.Mass = [][]T{ev.Mass, second}, nil
	}
	return ev
}

// prepared compares evaluations of events that are prepared once with calls of their own: each bit, each error.
func prepared[T core.Float](t *testing.T, ev core.Events[T], cfg core.Config, others []core.Config) {
	pr, failed := core.Prepare(ev, cfg)
	n := len(ev.Score)
	for _, other := range append([]core.Config{cfg}, others...) {
		want, grad, hess := make([]T, n), make([]T, n), make([]T, n)
		alone, err := core.LossAndGrad(want, ev, other)
		if failed != nil { // the loss of the same options has no better fate, though perhaps for another label
			require.Error(t, err)
			return
		}
		found, same := pr.LossAndGrad(grad, other)
		if err != nil {
			require.EqualError(t, same, err.Error())
			continue
		}
		require.NoError(t, same)
		require.Equal(t, math.Float64bits(alone), math.Float64bits(found), other)
		require.Equal(t, want, grad)
		result, err := core.Evaluate(want, ev, other)
		again, same := pr.Evaluate(grad, other)
		require.Equal(t, err, same)
		if err == nil && !math.IsNaN(result.Bias) {
			require.Equal(t, result, again)
		}
		result, err = core.Curvature(nil, want, 0.25, ev, other)
		again, same = pr.Curvature(nil, hess, 0.25, other)
		require.Equal(t, err, same)
		if err == nil && !math.IsNaN(result.Bias) {
			require.Equal(t, result, again)
		}
		require.Equal(t, want, hess)
	}
}

// Prepared events have the losses of calls of their own, bit for bit, whatever of the moments changes, and with few events too, where
// the order decides the bins.
func TestPrepared(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for k := range 200 {
		cfg := core.DefaultConfig()
		cfg.Order = rng.IntN(4)
		cfg.Joint = k%16 == 15
		if rng.IntN(2) == 0 {
			cfg.Bins = 3 + rng.IntN(20)
		}
		if rng.IntN(4) == 0 {
			cfg.Binning = core.Uniform
		}
		if rng.IntN(2) == 0 {
			cfg.BackgroundLabel = []int32{0, 2}
		}
		var others []core.Config
		for range 4 {
			other := cfg
			other.Order, other.Moments, other.Reduction = rng.IntN(7), core.MomentKind(rng.IntN(2)), core.Reduction(rng.IntN(2))
			if cfg.Joint {
				other.Moments = core.Projection
			}
			other.Biased = rng.IntN(2) == 0
			if other.Order > 0 && !cfg.Joint && rng.IntN(2) == 0 {
				other.MaxSlope, other.SlopeOf = rng.Float64(), core.SlopeOf(rng.IntN(2))
			}
			other.Monotonic = other.Order > 1 && !cfg.Joint && rng.IntN(2) == 0
			others = append(others, other)
		}
		n := []int{20, 60, 100, 300, 1000, 5000}[rng.IntN(6)]
		weights, labels, categories, masses := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(4) == 0, cfg.Joint || rng.IntN(4) == 0
		prepared(t, eventsOf[float32](n, weights, labels, categories, masses, rng), cfg, others)
		prepared(t, eventsOf[float64](n, weights, labels, categories, masses, rng), cfg, others)
	}
}

// Options of the bins must stay, bad ones and lengths are errors as ever, and several goroutines may evaluate.
func TestPreparedErrors(t *testing.T) {
	ev, cfg := eventsOf[float64](4000, true, false, false, false, rand.New(rand.NewPCG(1, 2))), core.DefaultConfig()
	pr, err := core.Prepare(ev, cfg)
	require.NoError(t, err)
	for words, change := range map[string]func(*core.Config){
		"bins = 7 was 0 when the events were prepared": func(c *core.Config) { c.Bins = 7 },
		"binning = uniform was quantile when":          func(c *core.Config) { c.Binning = core.Uniform },
		"background_label = [3] was [0] when":          func(c *core.Config) { c.BackgroundLabel = []int32{3} },
		"mass_range = [0, 90] was [-Inf, +Inf] when":   func(c *core.Config) { c.MassRange = [2]float64{0, 90} },
		"score_range = [-1, 1] was [0, 1] when":        func(c *core.Config) { c.ScoreRange = [2]float64{-1, 1} },
		"order = 17":                                   func(c *core.Config) { c.Order = 17 },
		"max_slope = 0.5":                              func(c *core.Config) { c.MaxSlope = 0.5 },
	} {
		other := cfg
		change(&other)
		_, err := pr.LossAndGrad(nil, other)
		require.ErrorIs(t, err, core.ErrOption)
		require.True(t, strings.HasPrefix(err.Error(), words), err.Error())
	}
	_, err = pr.LossAndGrad(make([]float64, 3), cfg)
	require.ErrorIs(t, err, core.ErrLength)
	_, err = pr.LossAndGrad(ev.Score, cfg)
	require.ErrorContains(t, err, "grad overlaps score")
	_, err = core.Prepare(core.Events[float64]{Score: ev.Score, Mass: ev.Mass[1:]}, cfg)
	require.ErrorIs(t, err, core.ErrLength)

	var all sync.WaitGroup
	for order := range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			other := cfg
			other.Order = order
			want, err := core.Loss(ev, other)
			found, same := pr.LossAndGrad(nil, other)
			if want != found || err != nil || same != nil {
				t.Errorf("order %d: %v, want %v", order, found, want)
			}
		}()
	}
	all.Wait()
	pr.Free()
	pr.Free()
	_, err = pr.LossAndGrad(nil, cfg)
	require.EqualError(t, err, "the prepared events were freed")
}
