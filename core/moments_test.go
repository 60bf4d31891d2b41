package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/floats"
)

// Weights that cancel by 300 digits leave a bin's mean polynomials without any, but make no NaN.
func TestMomentsOfWeightsThatCancel(t *testing.T) {
	ev, cfg := spreadEvents[float64](100, false, 0), paperConfig()
	cfg.Order, cfg.Bins, cfg.Quadrature = 1, 4, false
	ev.Weight = make([]float64, 100)
	floats.AddConst(1, ev.Weight)
	edges, err := Edges(ev, cfg)
	require.NoError(t, err)
	left := 1e300
	for i, m := range ev.Mass {
		if m < edges[1] && left != 0 {
			ev.Weight[i] = left
			left = map[float64]float64{1e300: -1e300, -1e300: 0}[left]
		}
	}
	table, err := MomentsAt([]float64{0.2, 0.9}, ev, cfg)
	require.NoError(t, err)
	for _, c := range table.Moments {
		assert.True(t, finite(floats.Sum(c)))
	}
}

// The table has F_b, c and c~ of each score by their definitions, in the order in which the scores are given.
func TestMomentsAt(t *testing.T) {
	ev, cfg := positive(spreadEvents[float64](500, true, 0.2)), DefaultConfig()
	cfg.Order, cfg.Bins, cfg.MaxSlope, cfg.Monotonic = 2, 6, 0.3, true
	at := []float64{0.7, -1, 0.3, ev.Score[17], 0.5, 0.9, 2}
	table, err := MomentsAt(at, ev, cfg)
	require.NoError(t, err)
	br := newBrute(t, ev, cfg)
	for k, s := range at {
		cdf, c := make([]float64, br.nb), make([]float64, 3)
		for i, score := range br.scores {
			if b := br.bin[i]; score <= s {
				cdf[b] += br.weight[i] / br.sums[b]
				floats.AddScaled(c, br.weight[i]/br.sums[b], br.a[b])
			}
		}
		bounded, _ := br.bound(c)
		require.InDeltaSlice(t, cdf, table.CDF[k], 1e-12)
		require.InDeltaSlice(t, c, table.Moments[k], 1e-11)
		require.InDeltaSlice(t, bounded, table.Bounded[k], 1e-11)
	}
}

// Where tanh is 1 but for the last digits, the loss is still exact: the slope of
// tanh, carried as 1 - tanh^2, once was noise there and stayed so until the next
// chunk, for errors of the gradient of many times its largest element.
func TestBoundsNearSaturation(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	const n = 4000
	ev := Events[float64]{Score: make([]float64, n), Mass: make([]float64, n)}
	for i := range n {
		ev.Mass[i] = rng.Float64()
		ev.Score[i] = 1 / (1 + math.Exp(rng.NormFloat64()-6*(ev.Mass[i]-0.5)))
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Order = 1; c.MaxSlope = 0.1 },
		func(c *Config) { c.Order = 2; c.MaxSlope = 0.1; c.OfSelected = true },
		func(c *Config) { c.Order = 2; c.Monotonic = true },
		func(c *Config) { c.Order = 2; c.MaxSlope = 0.03; c.Monotonic = true; c.Biased = false },
		func(c *Config) { c.Order = 4; c.MaxSlope = 0.3; c.Monotonic = true },
	} {
		cfg := paperConfig()
		cfg.Bins = 16
		change(&cfg)
		requireDefinition(t, ev, cfg, 1e-10, "")
	}
}

// Where weights cancel below a score, F_b and its slope are 0 there but V_b is not: what monotonic takes away from the
// derivatives of every moment counts in the bias.
func TestFarKernelWithoutSlope(t *testing.T) {
	cfg := paperConfig()
	cfg.Order, cfg.Bins, cfg.Quadrature, cfg.Monotonic, cfg.Biased = 2, 6, false, true, false
	cfg.ScoreRange = unbounded()
	ev := spreadEvents[float64](120, true, 0)
	ev.Mass[7] = 1e6
	for k, w := range []float64{4, -2, -2} {
		ev.Score[3*k], ev.Mass[3*k], ev.Weight[3*k] = 0.001*float64(k+1)-0.01, 0.5, w
	}
	requireDefinition(t, ev, cfg, 1e-9, "")
}
